"""err-no-grad-fn: gradients by finite differences in NumPy, each cause raised."""

import warnings

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

from tests.helpers import load_snippet, raises_as_documented

PAGE = "errors/err-no-grad-fn"
NO_GRAD_FN = "element 0 of tensors does not require grad"
snippet = load_snippet("errors/err_no_grad_fn.py")


def loss_in_numpy(bias):
    """Cross entropy plus the mean square, of the snippet's model."""
    first, last = snippet.model
    hidden = (snippet.x @ first.weight.T + first.bias).numpy().astype(np.float64)
    logits = hidden @ last.weight.detach().numpy().T + bias
    shares = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
    target = snippet.target.numpy()
    return -np.log(shares[np.arange(5), target]).mean() + (logits**2).mean()


def test_the_gradient_is_that_of_both_losses():
    first, last = snippet.model
    bias = last.bias.detach().numpy().astype(np.float64)
    np.testing.assert_allclose(snippet.loss.item(), loss_in_numpy(bias), rtol=1e-5)
    steps = 1e-5 * np.eye(3)
    slopes = [(loss_in_numpy(bias + s) - loss_in_numpy(bias - s)) / 2e-5 for s in steps]
    np.testing.assert_allclose(last.bias.grad.numpy(), slopes, atol=1e-4)
    assert [p.requires_grad for p in first.parameters()] == [False, False]
    assert first.weight.grad is None


def test_the_break_lies_between_logits_and_prediction(capsys):
    load_snippet("errors/err_no_grad_fn.py")
    printed = capsys.readouterr().out.splitlines()
    assert NO_GRAD_FN in printed[0]
    assert printed[1:] == ["True False", "['1.weight', '1.bias']"]


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
    with torch.inference_mode():
        features = MODEL(X)
    head = nn.Linear(3, 1)
    with raises_as_documented(PAGE, "RuntimeError: Inference tensors cannot"):
        head(features)
    head(features.clone()).mean().backward()
