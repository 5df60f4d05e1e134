"""detect-anomaly: gradients by hand, and what the mode sees and does not see."""

import warnings

import pytest
import torch

from tests.helpers import (
    assert_documented,
    load_snippet,
    raises_as_documented,
    recipes,
)

PAGE = "errors/detect-anomaly"
NAN = "returned nan values"
snippet = load_snippet("errors/detect_anomaly.py")
torch.autograd.set_detect_anomaly(False)  # the snippet leaves it on


@pytest.fixture(autouse=True)
def _anomaly_detection_ends():
    yield
    torch.autograd.set_detect_anomaly(False)


def leaf(*values):
    return torch.tensor(values, requires_grad=True)


def backward(f, *values, **mode):
    """The gradient, or the text of the error; and the warnings."""
    with (
        warnings.catch_warnings(record=True) as caught,
        torch.autograd.set_detect_anomaly(True, **mode),
    ):
        warnings.simplefilter("always")
        w = leaf(*values)
        try:
            f(w).sum().backward()
        except RuntimeError as error:
            return str(error), caught
    return w.grad, caught


def masked_root(w):
    safe = torch.where(w > 0, w, 1.0)
    return torch.where(w > 0, safe.sqrt(), 0.0)


def test_the_fixed_loss_has_the_gradient_of_the_root():
    """1 / (2 sqrt(w)) where w > 0, else 0; the snippet's mean of two squares: 1/2."""
    torch.testing.assert_close(snippet.w.grad, torch.full((2,), 0.5))
    grad, caught = backward(masked_root, 0.0, 4.0, 0.25)
    assert grad.tolist() == [0, 0.25, 1]
    assert not caught


def test_the_snippet_raises_what_the_page_quotes(capsys):
    load_snippet("errors/detect_anomaly.py")
    printed = capsys.readouterr().out.splitlines()
    assert (
        printed[0] == "Function 'SqrtBackward0' returned nan values in its 0th output."
    )


def test_the_answer_shows_the_line_and_leaves_a_good_step_alone():
    exec(recipes()["detect-anomaly"].answer.text, {})
    x, loss_fn = torch.zeros(2), torch.nn.MSELoss()
    w = leaf(1.0, 2.0)
    loss_fn(w.mul(x), x).backward()
    assert w.grad.tolist() == [0, 0]
    with (
        pytest.warns(UserWarning, match="Error detected in SqrtBackward0") as caught,
        pytest.raises(RuntimeError, match=NAN),
    ):
        loss_fn((w * x).sqrt(), x).backward()
    assert "loss_fn((w * x).sqrt(), x).backward()" in str(caught[-1].message)


def test_the_error_and_the_line_above_it():
    w = leaf(0.0)
    with (
        warnings.catch_warnings(record=True) as caught,
        torch.autograd.set_detect_anomaly(True),
    ):
        warnings.simplefilter("always")
        loss = torch.where(w > 0, w.sqrt(), 0.0).sum()
        with raises_as_documented(PAGE, "RuntimeError: Function 'SqrtBackward0'"):
            loss.backward()
    text = str(caught[0].message)
    assert "Traceback of forward call that caused the error" in text
    assert "loss = torch.where(w > 0, w.sqrt(), 0.0).sum()" in text


def test_without_the_mode_the_gradient_is_nan_in_silence():
    w = leaf(0.0)
    torch.where(w > 0, w.sqrt(), 0.0).sum().backward()
    assert w.grad.isnan().all()


@pytest.mark.parametrize(
    ("name", "bad", "good", "values"),
    [
        ("Sqrt", lambda w: w.sqrt() * 0, lambda w: (w + 1e-6).sqrt() * 0, (0.0,)),
        ("Pow", lambda w: (w**2).sum().sqrt(), lambda w: w.norm(), (0.0, 0.0)),
        ("Log", lambda w: w * w.log(), lambda w: w * w.clamp_min(1e-6).log(), (0.0,)),
        (
            "Exp",
            lambda w: torch.where(w > 50, 0, w.exp()),
            lambda w: torch.where(w > 50, 0, w.clamp(max=80).exp()),
            (1.0, 100.0),
        ),
        (
            "Mul",
            lambda w: torch.where(w > 50, 0, w * w.exp()),
            lambda w: torch.where(w > 50, 0, w * w.clamp(max=80).exp()),
            (1.0, 100.0),
        ),
        ("Div", lambda w: w / w.sum(), lambda w: w / w.sum().clamp_min(1e-6), (0.0,)),
        (
            "Reciprocal",
            lambda w: torch.where(w != 0, 1 / w, w),
            lambda w: torch.where(w != 0, 1 / torch.where(w != 0, w, 1.0), w),
            (0.0,),
        ),
        (
            "Softmax",
            lambda w: torch.softmax(w + float("-inf"), 0),
            lambda w: torch.softmax(w + torch.finfo(w.dtype).min, 0),
            (1.0, 2.0),
        ),
        ("Std", lambda w: w.std(), lambda w: w.std(correction=0), (1.0,)),
    ],
)
def test_the_functions_of_the_table(name, bad, good, values):
    error, _ = backward(bad, *values)
    assert error.startswith(f"Function '{name}Backward0' {NAN}")
    grad, _ = backward(good, *values)
    assert grad.isfinite().all()


@pytest.mark.parametrize("f", [torch.log, lambda w: 1 / w, torch.exp])
def test_inf_is_not_seen(f):
    grad, caught = backward(f, 100.0 if f is torch.exp else 0.0)
    assert torch.is_tensor(grad)
    assert not grad.isfinite().all()
    assert not caught


def test_nan_of_the_forward_pass_alone_is_not_seen():
    grad, _ = backward(torch.log, -1.0)
    assert grad.tolist() == [-1]  # and the loss was NaN


def test_the_second_input_is_the_1th_output():
    error, _ = backward(lambda w: torch.ones(1) * 0 / (w / w.sum()), 0.0)
    assert NAN in error
    error, _ = backward(lambda w: w.detach() / w, 0.0)
    assert "in its 1th output" in error


def test_without_check_nan_nothing_is_raised():
    grad, _ = backward(lambda w: w.sqrt() * 0, 0.0, check_nan=False)
    assert grad.isnan().all()


def test_a_forward_pass_outside_leaves_no_line():
    loss = (leaf(0.0).sqrt() * 0).sum()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with torch.autograd.detect_anomaly(), pytest.raises(RuntimeError, match=NAN):
            loss.backward()
    raised = [f"UserWarning: {warning.message}" for warning in caught]
    assert_documented(PAGE, "UserWarning: Anomaly Detection has been", raised[0])
    assert_documented(PAGE, "UserWarning: Error detected in SqrtB", raised[1])
