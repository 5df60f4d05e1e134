"""err-no-grad-fn: what the answer tells of each cause, and each cause raised."""

import contextlib
import io
import warnings

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

from tests.helpers import load_snippet, raises_as_documented, recipes

PAGE = "errors/err-no-grad-fn"
NO_GRAD_FN = "element 0 of tensors does not require grad"
ANSWER = recipes()["err-no-grad-fn"].answer


def found(model, logits, loss):
    """What the answer prints, as booleans."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(ANSWER.text, {"model": model, "logits": logits, "loss": loss})
    return [line == "True" for line in out.getvalue().split()]


def test_the_answer_takes_three_names():
    assert set(ANSWER.yours) == {"model", "logits", "loss"}


def test_the_first_false_names_the_cause():
    logits = MODEL(X)
    assert found(MODEL, logits, logits.mean()) == [True] * 4
    assert found(MODEL, logits, logits.argmax().float()) == [True, True, True, False]
    assert found(MODEL, logits, torch.tensor(logits.mean().item()))[2:] == [True, False]
    cut = MODEL(X).detach()
    assert found(MODEL, cut, cut.mean()) == [True, True, False, False]
    with torch.no_grad():
        logits = MODEL(X)
        assert found(MODEL, logits, logits.mean()) == [False, True, False, False]
    assert found(MODEL, logits, logits.mean()) == [True, True, False, False]
    frozen = nn.Linear(4, 3).requires_grad_(False)
    logits = frozen(X)
    assert found(frozen, logits, logits.mean()) == [True, False, False, False]


def test_the_demonstration(capsys):
    snippet = load_snippet("errors/err_no_grad_fn.py")
    assert capsys.readouterr().out.split() == ["True", "True", "True", "False"]
    logits = snippet.logits.detach().numpy().astype(np.float64)
    shares = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
    shares[np.arange(5), snippet.target.numpy()] -= 1  # the gradient of cross entropy
    grad = snippet.model[1].bias.grad.numpy()
    np.testing.assert_allclose(grad, shares.mean(0), atol=1e-6)


MODEL, X, Y = nn.Linear(4, 3), torch.randn(5, 4), torch.tensor([0, 2, 1, 1, 0])


@pytest.mark.parametrize(
    "loss",
    [
        lambda out: F.mse_loss(out.argmax(1).float(), Y.float()),
        lambda out: 1 - (out.argmax(1) == Y).float().mean(),
        lambda out: (out > 0.5).float().mean(),
        lambda out: out.long().float().mean(),
        lambda out: torch.tensor([out.mean(), out.std()]).sum(),
        lambda out: torch.tensor(out.mean().item()),
        lambda out: out.detach().mean(),
        lambda out: torch.from_numpy(out.numpy(force=True)).mean(),
        lambda out: torch.tensor(0.0),
    ],
)
@pytest.mark.filterwarnings("ignore:Converting a tensor with requires_grad")
def test_what_breaks_the_chain(loss):
    with raises_as_documented(PAGE, "RuntimeError: element 0 of tensors"):
        loss(MODEL(X)).backward()


@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode])
def test_modes_without_gradients(mode):
    with mode():
        assert not torch.is_grad_enabled()
        loss = MODEL(X).mean()
    with pytest.raises(RuntimeError, match=NO_GRAD_FN):
        loss.backward()


def test_enable_grad_helps_under_no_grad_and_not_under_inference_mode():
    with torch.no_grad(), torch.enable_grad():
        MODEL(X).mean().backward()
    with torch.inference_mode(), torch.enable_grad():
        assert not MODEL(X).mean().requires_grad


def test_all_frozen():
    frozen = nn.Linear(4, 3).requires_grad_(False)
    with pytest.raises(RuntimeError, match=NO_GRAD_FN):
        frozen(X).mean().backward()
    x = X.clone().requires_grad_()  # an attack, a saliency map
    frozen(x).sum().backward()
    torch.testing.assert_close(x.grad[0], frozen.weight.sum(0))


def test_reentrant_checkpoints_after_something_frozen():
    frozen, block = nn.Linear(4, 4).requires_grad_(False), nn.Linear(4, 4)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        loss = checkpoint(block, frozen(X), use_reentrant=True).mean()
    assert "None of the inputs have requires_grad=True" in str(caught[0].message)
    with pytest.raises(RuntimeError, match=NO_GRAD_FN):
        loss.backward()
    checkpoint(block, frozen(X), use_reentrant=False).mean().backward()
    assert block.weight.grad is not None


def test_requires_grad_on_the_loss_only_hides_it():
    model = nn.Linear(4, 3)
    loss = F.mse_loss(model(X).argmax(1).float(), Y.float()).requires_grad_()
    loss.backward()
    assert model.weight.grad is None


def test_eval_mode_keeps_gradients():
    nn.Dropout().eval()(MODEL.eval()(X)).mean().backward()


def test_a_batch_without_targets_keeps_its_graph():
    (0 * MODEL(X).sum()).backward()


def test_rounding_raises_nothing_and_gives_zero():
    x = torch.tensor([0.3], requires_grad=True)
    x.round().sum().backward()
    assert x.grad.item() == 0


def test_the_neighbouring_messages():
    with raises_as_documented(PAGE, "RuntimeError: One of the differentiated"):
        torch.autograd.grad(MODEL(X).sum(), X)
    with raises_as_documented(PAGE, "RuntimeError: element 1 of tensors"):
        torch.autograd.backward([MODEL(X).sum(), X.sum()])
    with raises_as_documented(PAGE, "AttributeError: 'float' object has"):
        MODEL(X).mean().item().backward()
    loss = (MODEL(X).mean(),)  # as a comma at the end of the line makes it
    with raises_as_documented(PAGE, "AttributeError: 'tuple' object has"):
        loss.backward()
    with torch.inference_mode():
        features = MODEL(X)
    head = nn.Linear(3, 1)
    with raises_as_documented(PAGE, "RuntimeError: Inference tensors cannot"):
        head(features)
    head(features.clone()).mean().backward()
