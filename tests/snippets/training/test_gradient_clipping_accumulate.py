"""gradient-clipping, accumulated in float16: against one float64 batch."""

import copy

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from tests.helpers import load_snippet, raises_as_documented

path = "training/gradient_clipping_accumulate.py"
train_step = load_snippet(path).train_step
PAGE = "training/gradient-clipping"


@pytest.fixture
def task():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(5, 7), nn.Tanh(), nn.Linear(7, 2))
    x, y = torch.randn(3, 8, 5), torch.randn(3, 8, 2)
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**10, growth_interval=1)
    return model, scaler, x, y, list(zip(x, y, strict=True))


def vector(tensors):
    return nn.utils.parameters_to_vector(tensors).detach().double()


def whole_gradient(model, x, y):
    model = copy.deepcopy(model).double()
    x, y = x.flatten(0, 1).double(), y.flatten(0, 1).double()
    loss = F.mse_loss(model(x), y)
    return vector(torch.autograd.grad(loss, [*model.parameters()]))


@pytest.mark.parametrize("factor", [0.1, 10.0])
def test_the_update_is_that_of_the_whole_batch_clipped_once(task, factor):
    model, scaler, x, y, batches = task
    expected = whole_gradient(model, x, y)
    max_norm = factor * expected.norm().item()
    before = vector(model.parameters())
    for p in model.parameters():
        p.grad = torch.full_like(p, 1e3)  # stale: must not count
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    norm = train_step(model, optimizer, scaler, batches, max_norm)
    assert norm.shape == ()
    assert norm.item() == pytest.approx(expected.norm().item(), rel=5e-3)
    clipped = min(1, factor) * expected
    moved = before - vector(model.parameters())
    assert (moved - clipped).norm() < 5e-3 * clipped.norm()
    if factor < 1:
        assert moved.norm().item() == pytest.approx(max_norm, rel=1e-3)
    assert scaler.get_scale() == 2.0**11  # update was called once


def test_forward_runs_in_float16(task):
    model, scaler, _, _, batches = task
    dtypes = []
    model[2].register_forward_hook(lambda m, a, y: dtypes.append(y.dtype))
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    train_step(model, optimizer, scaler, batches, 1.0)
    assert dtypes == [torch.float16] * 3


def test_an_overflow_skips_the_update(task):
    model, _, _, _, batches = task
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**40)
    before = vector(model.parameters())
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    norm = train_step(model, optimizer, scaler, batches, 1.0)
    assert not norm.isfinite()
    assert torch.equal(vector(model.parameters()), before)
    assert scaler.get_scale() == 2.0**39


def test_clipping_scaled_gradients_makes_the_update_too_small(task):
    model, scaler, x, y, _ = task
    expected = whole_gradient(model, x, y)
    before = vector(model.parameters())
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    loss = F.mse_loss(model(x), y)
    scaler.scale(loss).backward()
    norm = nn.utils.clip_grad_norm_(model.parameters(), expected.norm().item())
    scaler.step(optimizer)
    assert norm.item() == pytest.approx(1024 * expected.norm().item(), rel=5e-3)
    moved = before - vector(model.parameters())
    assert moved.norm().item() == pytest.approx(expected.norm().item() / 1024, rel=1e-2)


def test_clipping_each_batch_is_another_update():
    weight, gradients = nn.Parameter(torch.zeros(1)), (10.0, -8.0)
    each, total = 0.0, 0.0
    for gradient in gradients:
        weight.grad = torch.tensor([gradient / 2])
        total += weight.grad.item()
        nn.utils.clip_grad_norm_(weight, 0.5)
        each += weight.grad.item()
    assert each == pytest.approx(0, abs=1e-5)  # 0.5 and -0.5
    weight.grad = torch.tensor([total])
    nn.utils.clip_grad_norm_(weight, 0.5)
    assert weight.grad.item() == pytest.approx(0.5)


def test_unscaling_twice_raises(task):
    model, scaler, x, y, _ = task
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    scaler.scale(F.mse_loss(model(x), y)).backward()
    scaler.unscale_(optimizer)
    with raises_as_documented(PAGE):
        scaler.unscale_(optimizer)
