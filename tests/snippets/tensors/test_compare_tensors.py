"""compare-tensors: the tolerance on networks, the formula in NumPy, the errors."""

import copy

import numpy as np
import pytest
import torch
from torch import nn
from torch.testing import assert_close

from tests.helpers import ROOT, load_snippet, raises_as_documented

PAGE = "tensors/compare-tensors"
NAN = float("nan")
TOLERANCE = {"rtol": 1e-4, "atol": 1e-4}  # where the page says to start


@pytest.fixture
def calls(monkeypatch):
    """The snippet, and what it passed to the two comparisons."""
    seen = []

    def record(function):
        def wrapper(*args, **options):
            seen.append((args, options))
            return function(*args, **options)

        return wrapper

    for module, name in ((torch.testing, "assert_close"), (torch, "allclose")):
        monkeypatch.setattr(module, name, record(getattr(module, name)))
    return load_snippet("tensors/compare_tensors.py"), seen


def test_both_comparisons_get_the_tolerance(calls):
    snippet, seen = calls
    assert [options for _, options in seen] == [TOLERANCE, TOLERANCE]
    for (a, b), _ in seen:
        assert a is snippet.a
        assert b is snippet.b
    assert snippet.close is True


def test_one_by_one_and_batch_are_the_layer_in_float64(calls):
    snippet, _ = calls
    x, layer = snippet.x.double().numpy(), snippet.model.double()
    weight, bias = layer.weight.detach().numpy(), layer.bias.detach().numpy()
    expected = x @ weight.T + bias
    for output in (snippet.a, snippet.b):
        np.testing.assert_allclose(output, expected, rtol=1e-4, atol=1e-4)
    assert snippet.same is np.array_equal(snippet.a.numpy(), snippet.b.numpy())
    difference = np.abs(snippet.a.numpy() - snippet.b.numpy()).max()
    assert snippet.worst.item() == difference < 1e-5


def test_the_difference_has_no_sign():
    source = (ROOT / "snippets/tensors/compare_tensors.py").read_text(encoding="utf-8")
    for shift in (5e-5, -5e-5):
        names = {}
        exec(source.replace("b = model(x)", f"b = model(x) + {shift}"), names)
        assert names["worst"].item() == pytest.approx(5e-5, rel=0.2)


def test_the_difference_of_bytes_wraps():
    a, b = torch.tensor([[1], [2]], dtype=torch.uint8)
    assert (a - b).abs().max() == 255
    assert (a.int() - b.int()).abs().max() == abs(1 - 2)
    with pytest.raises(RuntimeError, match="bool"):
        _ = a.bool() - b.bool()


def test_the_data_are_the_same_in_every_run(calls):
    snippet, _ = calls
    torch.rand(1)
    assert torch.equal(load_snippet("tensors/compare_tensors.py").x, snippet.x)


def test_a_wrong_result_is_noticed(calls):
    snippet, _ = calls
    with pytest.raises(AssertionError):
        assert_close(snippet.a + 1e-3, snippet.b, **TOLERANCE)


def networks():
    torch.manual_seed(0)
    block = nn.TransformerEncoderLayer(128, 4, 256, batch_first=True)
    wide = nn.Linear(512, 128, bias=False)
    nn.init.normal_(wide.weight)
    return [
        (nn.TransformerEncoder(block, 3, enable_nested_tensor=False), (4, 16, 128)),
        (nn.Sequential(nn.Conv2d(3, 32, 7), nn.ReLU(), nn.Conv2d(32, 32, 5)), None),
        (wide, (128, 512)),
    ]


@pytest.mark.parametrize("index", range(3))
@torch.no_grad()
def test_networks_pass_with_the_tolerance(index):
    model, shape = networks()[index]
    x = torch.randn(shape or (4, 3, 24, 24))
    model.eval()
    whole = model(x)
    single = torch.cat([model(row) for row in x.split(1)])
    exact = copy.deepcopy(model).double()(x.double()).float()
    assert_close(single, whole, **TOLERANCE)
    assert_close(whole, exact, **TOLERANCE)


def test_the_defaults_are_too_strict_for_a_product():
    model, shape = networks()[2]
    x = torch.randn(shape)
    exact = (x.double() @ model.weight.double().T).float()
    with raises_as_documented(PAGE, "AssertionError: Tensor-likes are not"):
        assert_close(model(x), exact)
    assert not torch.allclose(model(x), exact)


def test_a_forgotten_eval_is_a_larger_difference():
    model, x = nn.Sequential(nn.Linear(8, 8), nn.Dropout(0.5)), torch.randn(4, 8)
    with raises_as_documented(PAGE, "AssertionError: Tensor-likes are not"):
        assert_close(model(x), model(x), **TOLERANCE)
    assert_close(model.eval()(x), model(x), **TOLERANCE)


def test_the_formula_is_that_of_numpy():
    values = [0.0, 1e-9, 1e-7, 0.4, 0.6, 90.0, 100.0, -100.0]
    for rtol in (0.0, 1e-5, 0.1):
        for a in values:
            for b in values:
                expected = abs(a - b) <= 0.05 + rtol * abs(b)
                tensors = [torch.tensor(v, dtype=torch.float64) for v in (a, b)]
                assert torch.allclose(*tensors, rtol, 0.05) is expected
                assert np.allclose(a, b, rtol, 0.05) == expected


def test_the_default_tolerances():
    one, zero = torch.tensor(1.0), torch.tensor(0.0)
    assert_close(one + 1e-5, one)  # 1.3e-6 + 1e-5 in all
    with pytest.raises(AssertionError, match=r"up to 1\.3e-06 allowed"):
        assert_close(one + 1.3e-5, one)
    assert_close(zero + 1e-5, zero)
    assert torch.allclose(zero + 1e-8, zero)
    assert not torch.allclose(zero + 1.1e-8, zero)


def test_the_documented_errors_are_raised():
    x = torch.ones(2)
    for compare in (torch.allclose, torch.isclose):
        with raises_as_documented(PAGE, "RuntimeError: Float did not"):
            compare(x, x.double())
    with raises_as_documented(PAGE, "RuntimeError: Boolean value of"):
        bool(x == x)
    with raises_as_documented(PAGE, "RuntimeError: Boolean value of"):
        [torch.zeros(2)].index(x)
    with raises_as_documented(PAGE, "ValueError: Both 'rtol' and"):
        assert_close(x, x, rtol=0.1)
    with raises_as_documented(PAGE, "AssertionError: The values for"):
        assert_close(x.double(), x)
    assert_close(x.double(), x, check_dtype=False)
    assert torch.allclose(x.double(), x.double())
    assert any(x is y for y in [torch.zeros(2), x])


def test_equal_is_exact_and_ignores_the_dtype():
    assert torch.equal(torch.tensor([1]), torch.tensor([1.0]))
    assert not torch.equal(torch.ones(2, 2), torch.ones(2))
    assert not torch.equal(torch.ones(2), torch.ones(2) + 1e-6)


def test_allclose_broadcasts_and_accepts_different_integers():
    assert torch.allclose(torch.ones(2, 2), torch.ones(2))
    with pytest.raises(AssertionError, match="shape"):
        assert_close(torch.ones(2, 2), torch.ones(2))
    a, b = torch.tensor([100_000]), torch.tensor([100_001])
    assert torch.allclose(a, b)
    with pytest.raises(AssertionError, match="not equal"):
        assert_close(a, b)


def test_nan_is_never_equal_unless_asked():
    nan = torch.tensor([NAN])
    assert not (nan == nan).item()
    assert not torch.equal(nan, nan)
    assert not torch.allclose(nan, nan)
    with pytest.raises(AssertionError):
        assert_close(nan, nan)
    assert torch.allclose(nan, nan, equal_nan=True)
    assert_close(nan, nan, equal_nan=True)


def test_the_variants():
    a, b = nn.Linear(2, 2), nn.Linear(2, 2)
    b.load_state_dict(a.state_dict())
    assert_close(a.state_dict(), b.state_dict())
    with torch.no_grad():
        b.bias += 1
    with pytest.raises(AssertionError, match=r"for item \['bias'\]"):
        assert_close(a.state_dict(), b.state_dict())
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    y = torch.tensor([[1.0, 2.0], [0.0, 4.0]])
    assert torch.isclose(x, y).logical_not().nonzero().tolist() == [[1, 0]]
    storage = x.untyped_storage().data_ptr()
    assert storage == x[1:].untyped_storage().data_ptr() != x[1:].data_ptr()
    assert storage != x.clone().untyped_storage().data_ptr()
