"""custom-optimizer: against float64 loops, checkpoints, schedulers; each pitfall."""

import copy
import runpy

import numpy as np
import pytest
import torch
from torch import nn

from tests.helpers import ROOT, load_snippet, raises_as_documented, recipes

PAGE = "training/custom-optimizer"
SNIPPET = "training/custom_optimizer.py"
ANSWER = recipes()["custom-optimizer"].answer
snippet = load_snippet(SNIPPET)


def run(optimizer, weight: nn.Parameter, target: torch.Tensor, steps: int) -> None:
    for _ in range(steps):
        optimizer.zero_grad()
        (weight - target).square().sum().backward()
        optimizer.step()


@pytest.fixture
def weight():
    torch.manual_seed(0)
    return nn.Parameter(torch.randn(3, 4, dtype=torch.float64))


@pytest.fixture
def target():
    return torch.linspace(-1, 1, 12, dtype=torch.float64).view(3, 4)


def test_a_rule_without_state_in_numpy(weight, target):
    """The variant: its line in place of those from `state` on."""
    head, _, rest = ANSWER.text.partition("                state = ")
    line = '                p.sub_(p.grad.sign(), alpha=group["lr"])\n'
    names = {}
    exec(head + line + rest[rest.index("        return loss") :], names)
    w = weight.detach().numpy().copy()
    for _ in range(7):
        w -= 0.05 * np.sign(2 * (w - target.numpy()))
    run(names["Lion"]([weight], lr=0.05), weight, target, 7)
    np.testing.assert_allclose(weight.detach().numpy(), w)


def test_the_answer_keeps_state_of_each_weight(weight, target):
    names = {}
    exec(ANSWER.text, names)
    optimizer = names["Lion"]([weight])
    run(optimizer, weight, target, 1)
    (state,) = optimizer.state_dict()["state"].values()
    assert state["m"].shape == weight.shape


def test_a_step_count_is_saved(weight, target):
    optimizer = snippet.Lion([weight])
    run(optimizer, weight, target, 1)
    optimizer.state[weight]["step"] = 3
    fresh = snippet.Lion([weight])
    fresh.load_state_dict(optimizer.state_dict())
    assert fresh.state[weight]["step"] == 3


def test_lion_as_in_the_paper(weight, target):
    """Algorithm 2 without weight decay: c, the update, and then the momentum."""
    w, m = weight.detach().numpy().copy(), np.zeros((3, 4))
    for _ in range(30):
        g = 2 * (w - target.numpy())
        w -= 0.05 * np.sign(0.9 * m + 0.1 * g)
        m = 0.99 * m + 0.01 * g
    optimizer = snippet.Lion([weight], lr=0.05)
    run(optimizer, weight, target, 30)
    np.testing.assert_allclose(weight.detach().numpy(), w)
    np.testing.assert_allclose(optimizer.state[weight]["m"].numpy(), m)


def test_defaults(weight):
    assert snippet.Lion([weight]).defaults == {"lr": 1e-4}


def test_groups_and_schedulers():
    a, b = nn.Parameter(torch.zeros(2)), nn.Parameter(torch.zeros(2))
    frozen = nn.Parameter(torch.zeros(2))
    groups = [{"params": [a, frozen]}, {"params": [b], "lr": 0.5}]
    optimizer = snippet.Lion(groups, lr=0.25)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1, gamma=0.5)
    for _ in range(2):
        (a + b).sum().backward()
        optimizer.step()
        scheduler.step()
        optimizer.zero_grad()
    assert a.tolist() == [-0.375] * 2
    assert b.tolist() == [-0.75] * 2
    assert frozen.tolist() == [0, 0]


def test_a_resumed_run_is_the_same(weight, target):
    optimizer = snippet.Lion([weight], lr=0.05)
    run(optimizer, weight, target, 5)
    other = nn.Parameter(weight.detach().clone())
    resumed = snippet.Lion([other])
    resumed.load_state_dict(copy.deepcopy(optimizer.state_dict()))
    run(optimizer, weight, target, 5)
    run(resumed, other, target, 5)
    assert torch.equal(weight, other)


def test_an_attribute_is_not_saved_and_state_is_cast(weight):
    optimizer = snippet.Lion([weight])
    optimizer.m = torch.ones(3, 4)
    optimizer.state[weight].update(
        m=torch.ones(3, 4), n=torch.tensor(1), step=torch.tensor(1.0)
    )
    saved = optimizer.state_dict()
    assert saved.keys() == {"state", "param_groups"}
    fresh = snippet.Lion([weight])
    fresh.load_state_dict(saved)
    assert fresh.state[weight]["m"].dtype == torch.float64
    assert fresh.state[weight]["n"].dtype == torch.float64
    assert fresh.state[weight]["step"].dtype == torch.float32


def test_the_closure_gets_gradients(weight, target):
    optimizer = snippet.Lion([weight], lr=0.05)
    before = weight.detach().clone()

    def closure():
        optimizer.zero_grad()
        loss = (weight - target).square().sum()
        loss.backward()
        return loss

    loss = optimizer.step(closure)
    assert loss.item() == pytest.approx((before - target).square().sum().item())
    assert ((weight - before).abs() - 0.05).abs().max() < 1e-12
    assert optimizer.step() is None


def test_the_demonstration(capsys):
    runpy.run_path(str(ROOT / "snippets" / SNIPPET), run_name="__main__")
    # Every gradient is 3 (three rows of ones): Lion's momentum takes 1 % of it.
    assert capsys.readouterr().out.splitlines() == [
        "{0: {'m': tensor([[0.0300, 0.0300]])}, 1: {'m': tensor([0.0300])}}",
    ]


def test_rebinding_changes_nothing(weight):
    before = weight.detach().clone()
    weight.sum().backward()
    for p in [weight]:
        p = p - 0.1 * p.grad
    assert torch.equal(weight, before)


def test_weight_decay_of_the_variants():
    ours, theirs = (nn.Parameter(torch.ones(2)) for _ in range(2))
    theirs.grad = torch.zeros(2)
    torch.optim.AdamW([theirs], lr=0.1, weight_decay=0.5).step()
    with torch.no_grad():
        ours.mul_(1 - 0.1 * 0.5)
    torch.testing.assert_close(ours, theirs)


def test_messages(weight):
    class WithGradients(torch.optim.Optimizer):
        def step(self):
            for p in self.param_groups[0]["params"]:
                p.sub_(p.grad.sign(), alpha=0.1)

    optimizer = WithGradients([weight], {})
    weight.sum().backward()
    with raises_as_documented(PAGE, "RuntimeError: a leaf Variable"):
        optimizer.step()
    optimizer.zero_grad()
    with torch.no_grad(), raises_as_documented(PAGE, "AttributeError: 'NoneType'"):
        optimizer.step()

    class Lion(torch.optim.Optimizer):
        def __init__(self, params):
            self.params = list(params)

        def step(self):
            pass

    Lion.step.__qualname__ = "Lion.step"  # as outside a function
    with raises_as_documented(PAGE, "AttributeError: 'Lion'"):
        Lion([weight]).zero_grad()
    with raises_as_documented(PAGE, "TypeError: Lion.step() takes"):
        Lion([weight]).step(lambda: 0)


def test_a_scheduler_takes_optimizers_alone(weight):
    class LARC:
        """As in Apex: what it wraps is its attribute `optim`."""

        def __init__(self, optim):
            self.optim = optim

    wrapped = LARC(torch.optim.SGD([weight], lr=1.0))
    with raises_as_documented(PAGE, "TypeError: LARC is not"):
        torch.optim.lr_scheduler.StepLR(wrapped, 1)
    torch.optim.lr_scheduler.StepLR(wrapped.optim, 1)
