"""gradient-clipping: norms and updates against NumPy in float64."""

import copy

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F

from tests.helpers import load_snippet, raises_as_documented

train_step = load_snippet("training/gradient_clipping.py").train_step
PAGE = "training/gradient-clipping"


@pytest.fixture
def task():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(5, 7), nn.Tanh(), nn.Linear(7, 2))
    return model, torch.randn(9, 5), torch.randn(9, 2)


def flat(tensors):
    return np.concatenate([t.detach().double().numpy().ravel() for t in tensors])


def gradient(model, x, y):
    loss = F.mse_loss(model(x), y)
    return flat(torch.autograd.grad(loss, [*model.parameters()]))


@pytest.mark.parametrize("factor", [0.01, 0.5, 0.999, 1.001, 100])
def test_the_update_and_the_returned_norm(task, factor):
    model, x, y = task
    model[0].weight.grad = torch.full((7, 5), 1e3)  # stale: must not count
    expected = gradient(model, x, y)
    length = np.sqrt((expected**2).sum())
    max_norm = factor * length
    before = flat(model.parameters())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    norm = train_step(model, optimizer, x, y, max_norm)
    assert norm.shape == ()
    assert not norm.requires_grad
    assert norm.item() == pytest.approx(length, rel=1e-5)  # before clipping
    clipped = expected * min(1, factor)
    np.testing.assert_allclose(
        flat(model.parameters()) - before, -0.5 * clipped, rtol=1e-3, atol=1e-6
    )
    left = flat(p.grad for p in model.parameters())
    np.testing.assert_allclose(left, clipped, rtol=1e-4, atol=1e-7)
    assert np.linalg.norm(left) <= max_norm * (1 + 1e-6)


def test_short_gradients_stay_bit_for_bit(task):
    model, x, y = task
    F.mse_loss(model(x), y).backward()
    before = [p.grad.clone() for p in model.parameters()]
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    train_step(model, optimizer, x, y, max_norm=1e6)
    for p, grad in zip(model.parameters(), before, strict=True):
        assert torch.equal(p.grad, grad)


def test_frozen_parameters_do_not_count(task):
    model, x, y = task
    model[0].requires_grad_(False)
    expected = flat(
        torch.autograd.grad(F.mse_loss(model(x), y), [*model[2].parameters()])
    )
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    norm = train_step(model, optimizer, x, y, 1.0)
    assert norm.item() == pytest.approx(np.linalg.norm(expected), rel=1e-5)


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_a_bad_batch_raises_and_changes_no_weight(task, bad):
    model, x, y = task
    before = copy.deepcopy(model.state_dict())
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)
    y[0, 0] = bad
    with raises_as_documented(PAGE):
        train_step(model, optimizer, x, y, 1.0)
    for name, value in model.state_dict().items():
        assert torch.equal(value, before[name])
    train_step(model, optimizer, x, torch.zeros(9, 2), 1.0)
    assert all(p.isfinite().all() for p in model.parameters())


def test_by_default_one_nan_spoils_every_weight(task):
    model, x, y = task
    F.mse_loss(model(x), y).backward()
    model[0].weight.grad[0, 0] = float("nan")
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    assert all(p.grad.isnan().all() for p in model.parameters())


def test_clipping_in_the_wrong_place_does_nothing(task):
    model, x, y = task
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    expected, before = gradient(model, x, y), flat(model.parameters())
    optimizer.zero_grad()
    assert nn.utils.clip_grad_norm_(model.parameters(), 1e-3) == 0  # no gradients
    F.mse_loss(model(x), y).backward()
    optimizer.step()
    nn.utils.clip_grad_norm_(model.parameters(), 1e-3)
    np.testing.assert_allclose(
        flat(model.parameters()) - before, -0.5 * expected, rtol=1e-3, atol=1e-6
    )


def test_the_norm_is_one_for_all_and_by_value_turns_the_direction():
    a, b = (nn.Parameter(torch.zeros(1)) for _ in range(2))
    a.grad, b.grad = torch.tensor([3.0]), torch.tensor([4.0])
    assert nn.utils.clip_grad_norm_([a, b], 1.0) == 5
    torch.testing.assert_close(torch.cat([a.grad, b.grad]), torch.tensor([0.6, 0.8]))
    a.grad, b.grad = torch.tensor([3.0]), torch.tensor([40.0])
    nn.utils.clip_grad_value_([a, b], 1.0)
    assert (a.grad.item(), b.grad.item()) == (1, 1)


def test_the_norm_grows_with_the_number_of_parameters():
    for count in (4, 400):
        p = nn.Parameter(torch.zeros(count))
        p.grad = torch.ones(count)
        assert nn.utils.clip_grad_norm_(p, 1e9) == pytest.approx(count**0.5)


def test_measuring_without_clipping(task):
    model, x, y = task
    F.mse_loss(model(x), y).backward()
    gradients = [p.grad for p in model.parameters()]
    norm = nn.utils.clip_grad_norm_(model.parameters(), float("inf"))
    assert norm == nn.utils.get_total_norm(gradients)
    assert norm.item() == pytest.approx(np.linalg.norm(gradient(model, x, y)))


def test_the_documented_errors(task):
    model, _, _ = task
    parameters = model.parameters()
    torch.optim.SGD(parameters)  # uses the generator up
    with raises_as_documented(PAGE):
        nn.utils.clip_grad_norm_(parameters, 1.0)
    with raises_as_documented(PAGE):
        nn.utils.clip_grad_norm(model.parameters(), 1.0)
