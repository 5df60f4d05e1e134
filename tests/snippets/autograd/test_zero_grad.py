"""zero-grad: gradient descent worked by hand, and what each pitfall says."""

import pytest
import torch
from torch import nn

from tests.chains.pasted import answer
from tests.helpers import load_snippet, raises_as_documented

PAGE = "autograd/zero-grad"
snippet = load_snippet("autograd/zero_grad.py")


@pytest.mark.parametrize("clear", [True, False])
def test_steps_by_hand(clear):
    layer = nn.Linear(1, 1, bias=False)
    nn.init.constant_(layer.weight, 0.5)
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
    by_hand, gradient = 0.5, 0.0
    for _ in range(4):
        if clear:
            optimizer.zero_grad()
            gradient = 0.0
        nn.functional.mse_loss(layer(snippet.x), snippet.y).backward()
        optimizer.step()
        gradient += 2 * 1 * (by_hand - 2) * (1 + 4) / 2  # of (w − 2)²·(1² + 2²)/2
        by_hand -= 0.1 * gradient
    assert layer.weight.item() == pytest.approx(by_hand, abs=1e-5)


def test_the_answer_in_a_loop_takes_the_gradient_of_the_last_batch_alone():
    layer = nn.Linear(1, 1, bias=False)
    nn.init.constant_(layer.weight, 0.5)
    names = {"model": layer, "loss_fn": nn.MSELoss()}
    names["optimizer"] = torch.optim.SGD(layer.parameters(), lr=0.1)
    weight = 0.5
    for a in (1.0, -2.0, 0.5):
        names |= {"x": torch.tensor([[a]]), "y": torch.tensor([[3 * a]])}
        exec(answer("zero-grad"), names)
        weight -= 0.1 * 2 * (weight - 3) * a**2
        assert layer.weight.item() == pytest.approx(weight, abs=1e-5)


def test_the_snippet_learns_and_adds():
    assert snippet.model.weight.item() == pytest.approx(2, abs=1e-4)
    assert snippet.loss.item() < 1e-6
    assert snippet.w.grad.item() == 3 * 2 * 3.0


def test_between_backward_and_step_nothing_is_learnt():
    layer = nn.Linear(1, 1)
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
    before = layer.weight.item()
    layer(snippet.x).sum().backward()
    optimizer.zero_grad()
    optimizer.step()
    assert layer.weight.item() == before
    with raises_as_documented(PAGE, "AttributeError: 'NoneType' object has"):
        layer.weight.grad.norm()


@pytest.mark.parametrize(
    "options", [{"weight_decay": 0.1}, {"momentum": 0.9}], ids=["decay", "momentum"]
)
@pytest.mark.parametrize("to_none", [True, False])
def test_zeros_still_move_weights(options, to_none):
    weight = nn.Parameter(torch.ones(2))
    optimizer = torch.optim.SGD([weight], lr=0.1, **options)
    weight.sum().backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=to_none)
    before = weight.detach().clone()
    optimizer.step()
    assert torch.equal(weight, before) == to_none


def test_an_optimizer_clears_only_its_own():
    generator, critic = nn.Linear(1, 1), nn.Linear(1, 1)
    critic(generator(snippet.x)).sum().backward()
    torch.optim.SGD(generator.parameters(), lr=0.1).zero_grad()
    assert generator.weight.grad is None
    assert critic.weight.grad is not None
