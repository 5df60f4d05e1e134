"""lr-finder: the sweep, the copy, and training at the rate that it finds."""

import copy
import itertools

import pytest
import torch
from torch.nn import functional as F

from tests.helpers import load_snippet, raises_as_documented

PAGE = "training/lr-finder"
snippet = load_snippet("training/lr_finder.py")
LRS = [*snippet.losses]


def test_the_rates_grow_by_the_same_factor():
    assert LRS[0] == 1e-5
    assert len(LRS) == 100
    ratios = [b / a for a, b in itertools.pairwise(LRS)]
    assert ratios == pytest.approx([10**0.06] * 99)
    assert snippet.opt.param_groups[0]["lr"] == LRS[-1]


def test_the_model_and_the_optimizer_stay_as_they_were():
    torch.manual_seed(0)
    torch.randn(6400, 10)
    fresh = torch.nn.Sequential(torch.nn.Linear(10, 64), torch.nn.Linear(64, 3))
    for a, b in zip(fresh.parameters(), snippet.model.parameters(), strict=True):
        assert torch.equal(a, b)
        assert b.grad is None
    assert not snippet.optimizer.state
    assert snippet.optimizer.param_groups[0]["lr"] == 1e-3
    assert [*map(id, snippet.opt.param_groups[0]["params"])] == [
        *map(id, snippet.net.parameters())
    ]


def test_the_curve_is_flat_falls_and_rises():
    curve = [v.item() for v in snippet.losses.values()]
    low, mid, high = curve[:10], curve[65:72], curve[-10:]
    assert min(low) > 0.9
    assert max(mid) < 0.4
    assert not max(high) < 10  # or NaN


def test_the_lowest_mean_of_nine():
    curve = [v.item() for v in snippet.losses.values()]
    means = [sum(curve[i : i + 9]) / 9 for i in range(92)]
    best = min(range(92), key=means.__getitem__)
    assert snippet.lowest == LRS[best + 4]


def final_loss(lr):
    """After another epoch at this rate."""
    net, opt = copy.deepcopy((snippet.model, snippet.optimizer))
    opt.param_groups[0]["lr"] = lr
    losses = []
    for x, y in snippet.loader:
        loss = F.cross_entropy(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses.append(loss.item())
    return sum(losses[-10:]) / 10


def test_the_rate_is_good():
    torch.manual_seed(1)
    good = final_loss(snippet.lowest / 10)
    assert good < 0.35
    assert not final_loss(snippet.lowest * 10) < good


def test_deepcopy_keeps_the_state_of_adam():
    model = torch.nn.Linear(2, 2)
    optimizer = torch.optim.AdamW(model.parameters())
    model(torch.ones(1, 2)).sum().backward()
    optimizer.step()
    before = copy.deepcopy(optimizer.state_dict()["state"])
    net, opt = copy.deepcopy((model, optimizer))
    assert opt.state[net.weight]["step"] == 1
    net(torch.ones(1, 2)).sum().backward()
    opt.step()
    for i, state in optimizer.state_dict()["state"].items():
        for key, value in state.items():
            assert torch.equal(value, before[i][key])


def test_a_model_that_keeps_a_computed_tensor():
    model = torch.nn.Linear(2, 2)
    model.features = model(torch.ones(1, 2))
    with raises_as_documented(PAGE, "RuntimeError: Only Tensors created"):
        copy.deepcopy(model)
    model.features = model.features.detach()
    copy.deepcopy(model)
