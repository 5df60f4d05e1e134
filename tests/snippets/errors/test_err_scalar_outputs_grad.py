"""err-scalar-outputs-grad: each cause raised, each mend compared."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from tests.helpers import load_snippet, raises_as_documented, recipes

PAGE = "errors/err-scalar-outputs-grad"
VECTOR = "grad can be implicitly created only for scalar outputs"
ANSWER = recipes()["err-scalar-outputs-grad"].answer


def test_the_demonstration_has_the_gradient_of_the_mean():
    found = load_snippet("errors/err_scalar_outputs_grad.py")
    mean = F.cross_entropy(found.model(found.x), found.y)
    (expected,) = torch.autograd.grad(mean, found.model.weight)
    torch.testing.assert_close(found.model.weight.grad, expected)


@pytest.mark.parametrize("n", [1, 2, 7])
def test_the_answer_is_the_gradient_of_the_mean(n):
    model, x, y = nn.Linear(4, 3), torch.randn(n, 4), torch.arange(n) % 3
    (expected,) = torch.autograd.grad(F.cross_entropy(model(x), y), model.weight)
    loss_fn = nn.CrossEntropyLoss(reduction="none")
    exec(ANSWER.text, {"model": model, "loss_fn": loss_fn, "x": x, "y": y})
    torch.testing.assert_close(model.weight.grad, expected)


@pytest.mark.parametrize(
    "outputs",
    [
        lambda w: F.cross_entropy(w, torch.tensor([0, 1]), reduction="none"),
        lambda w: w.exp(),
    ],
)
def test_several_numbers(outputs):
    w = torch.ones(2, 3, requires_grad=True)
    with raises_as_documented(
        PAGE, "RuntimeError: grad can be implicitly created only for scalar"
    ):
        outputs(w).backward()
    with pytest.raises(RuntimeError, match=VECTOR):
        torch.autograd.grad(outputs(w), w)
    outputs(w).mean().backward()


def test_one_element_of_any_shape_will_do():
    (2 * torch.ones(1, 1, requires_grad=True)).backward()


def test_a_gradient_argument_weighs_the_outputs():
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    (w**2).backward(gradient=torch.tensor([1.0, 10.0]))
    assert w.grad.tolist() == [2, 40]
    jacobian = torch.func.jacrev(torch.square)(w.detach())
    assert jacobian.tolist() == [[2, 0], [0, 4]]


def test_the_sum_has_a_gradient_as_many_times_as_large():
    grads = []
    for reduce in (torch.sum, torch.mean):
        w = torch.ones(5, requires_grad=True)
        reduce(w**2).backward()
        grads.append(w.grad)
    torch.testing.assert_close(grads[0], 5 * grads[1])


def test_positions_that_are_masked_do_not_count():
    loss, mask = torch.tensor([3.0, 5.0, 7.0]), torch.tensor([True, True, False])
    assert ((loss * mask).sum() / mask.sum().clamp(min=1)).item() == 4
    assert ((loss * ~mask[:2].all()).sum() / torch.tensor(0).clamp(min=1)).item() == 0


def test_a_list_of_losses():
    w = torch.ones((), requires_grad=True)
    with pytest.raises(RuntimeError, match="does not have a grad_fn"):
        torch.tensor([2 * w.item(), 4 * w.item()]).mean().backward()
    torch.stack([2 * w, 4 * w]).mean().backward()
    assert w.grad.item() == 3


def test_the_neighbouring_messages():
    w = torch.ones(2, requires_grad=True)
    with raises_as_documented(PAGE, "RuntimeError: Mismatch in shape: grad_output[0]"):
        (2 * w).backward(torch.ones(3))
    with raises_as_documented(
        PAGE, "RuntimeError: grad can be implicitly created only for real"
    ):
        (1j * w.sum()).backward()
