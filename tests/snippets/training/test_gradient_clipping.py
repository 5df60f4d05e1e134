"""gradient-clipping: the run against NumPy in float64; what the page says of norms."""

import copy

import numpy as np
import pytest
import torch
from torch import distributed as dist
from torch import nn
from torch.distributed.fsdp import fully_shard
from torch.nn import functional as F

from tests.helpers import load_snippet, raises_as_documented

SNIPPET = "training/gradient_clipping.py"
PAGE = "training/gradient-clipping"
snippet = load_snippet(SNIPPET)
clip = nn.utils.clip_grad_norm_


def numpy_run(x, y, weight, bias, lr, max_norm):
    """Linear regression by hand: loss and norm of every step, the last weights."""
    history = []
    for a, b in zip(x, y, strict=True):
        error = a @ weight + bias - b
        gradient = 2 * np.append(a.T @ error, error.sum()) / len(a)
        norm = np.sqrt((gradient**2).sum())
        gradient *= min(1, max_norm / norm)
        history.append((np.mean(error**2), norm))
        weight, bias = weight - lr * gradient[:-1], bias - lr * gradient[-1]
    return history, weight, bias


def start():
    """The weights with which the snippet began, in float64."""
    torch.manual_seed(0)
    model = nn.Linear(8, 1).double()
    return model.weight.detach()[0].numpy(), model.bias.item()


def test_every_step_is_that_of_numpy(capsys):
    x = snippet.inputs.double().numpy()
    y = snippet.labels.double()[..., 0].numpy()
    history, weight, bias = numpy_run(x, y, *start(), lr=0.1, max_norm=1.0)
    np.testing.assert_allclose(snippet.model.weight.detach()[0], weight, rtol=1e-4)
    assert snippet.model.bias.item() == pytest.approx(bias, rel=1e-4)
    loss, norm = history[-1]
    assert snippet.loss.item() == pytest.approx(loss, rel=1e-4)
    assert snippet.norm.item() == pytest.approx(norm, rel=1e-4)
    assert not snippet.norm.requires_grad
    load_snippet(SNIPPET)
    printed = capsys.readouterr().out.splitlines()
    lines = [
        f"step {step}: loss {loss:.1f}, norm {norm:.1f}"
        for step, (loss, norm) in enumerate(history)
    ]
    # A float32 loss of 60,000 has no exact tenths.
    assert [*printed[:3], *printed[4:]] == [*lines[:3], *lines[4:]]
    assert printed[3].startswith("step 3: loss 625")
    assert [norm > 1 for _, norm in history] == [False] * 3 + [True] + [False] * 2


def test_without_clipping_one_label_ruins_the_weights():
    x = snippet.inputs.double().numpy()
    y = snippet.labels.double()[..., 0].numpy()
    clipped, *_ = numpy_run(x, y, *start(), lr=0.1, max_norm=1.0)
    free, *_ = numpy_run(x, y, *start(), lr=0.1, max_norm=np.inf)
    assert clipped[4][0] < 1 < 100 < free[4][0]


@pytest.fixture
def task():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(5, 7), nn.Tanh(), nn.Linear(7, 2))
    return model, torch.randn(9, 5), torch.randn(9, 2)


def flat(tensors):
    return torch.cat([t.detach().double().flatten() for t in tensors])


def gradients(model, x, y):
    """Leave new gradients in the model; return them as one vector."""
    model.zero_grad()
    F.mse_loss(model(x), y).backward()
    return flat(p.grad for p in model.parameters())


@pytest.mark.parametrize("factor", [0.01, 0.999, 1.001, 100])
def test_longer_gradients_are_shortened_and_others_left(task, factor):
    model, x, y = task
    before = gradients(model, x, y)
    norm = clip(model.parameters(), factor * before.norm().item())
    assert norm.item() == pytest.approx(before.norm().item(), rel=1e-5)
    after = flat(p.grad for p in model.parameters())
    torch.testing.assert_close(after, before * min(1, factor), rtol=1e-4, atol=1e-8)
    assert torch.equal(after, before) == (factor > 1)


def test_clipping_in_the_wrong_place_does_nothing(task):
    model, x, y = task
    assert clip(model.parameters(), 1e-3) == 0  # before backward
    gradient, before = gradients(model, x, y), flat(model.parameters())
    torch.optim.SGD(model.parameters(), lr=0.5).step()
    clip(model.parameters(), 1e-3)  # after step
    moved = before - flat(model.parameters())
    torch.testing.assert_close(moved, 0.5 * gradient, rtol=1e-3, atol=1e-6)


def test_the_norm_grows_with_the_parameters_and_with_the_loss(task):
    for count in (4, 400):
        p = nn.Parameter(torch.zeros(count))
        p.grad = torch.ones(count)
        assert clip(p, 1e9) == pytest.approx(count**0.5)
    model, x, y = task
    assert gradients(model, x, 10 * y).norm() > 5 * gradients(model, x, y).norm()


def test_one_nan_spoils_all_gradients_unless_it_is_an_error(task):
    model, x, y = task
    gradients(model, x, y)
    model[0].weight.grad[0, 0] = float("nan")
    before = copy.deepcopy([p.grad for p in model.parameters()])
    with raises_as_documented(PAGE, "RuntimeError: The total norm"):
        clip(model.parameters(), 1.0, error_if_nonfinite=True)
    for p, grad in zip(model.parameters(), before, strict=True):
        torch.testing.assert_close(p.grad, grad, rtol=0, atol=0, equal_nan=True)
    clip(model.parameters(), 1.0)
    assert all(p.grad.isnan().all() for p in model.parameters())


def test_a_scaler_skips_the_step_after_a_nan(task):
    model, x, y = task
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    scaler, before = torch.amp.GradScaler("cpu"), flat(model.parameters())
    scaler.scale(F.mse_loss(model(x), y * float("nan"))).backward()
    scaler.unscale_(optimizer)
    clip(model.parameters(), 1.0)
    scaler.step(optimizer)
    assert torch.equal(flat(model.parameters()), before)


def test_scaled_gradients_must_be_unscaled_before_and_once(task):
    model, x, y = task
    gradient = gradients(model, x, y)
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    scaler, before = torch.amp.GradScaler("cpu"), flat(model.parameters())
    optimizer.zero_grad()
    scaler.scale(F.mse_loss(model(x), y)).backward()
    norm = clip(model.parameters(), 1.0)  # the mistake
    assert norm.item() == pytest.approx(65536 * gradient.norm().item(), rel=1e-4)
    scaler.step(optimizer)
    assert (flat(model.parameters()) - before).norm() < 1e-4
    scaler.update()
    optimizer.zero_grad()
    scaler.scale(F.mse_loss(model(x), y)).backward()
    scaler.unscale_(optimizer)
    norm = clip(model.parameters(), 1.0)
    assert norm.item() == pytest.approx(gradient.norm().item(), rel=1e-2)
    with raises_as_documented(PAGE, "RuntimeError: unscale_() has already"):
        scaler.unscale_(optimizer)


def test_accumulated_batches_are_clipped_once(task):
    model, x, y = task
    whole = gradients(model, x, y)
    limit = 0.5 * whole.norm().item()

    def accumulated(clip_each):
        model.zero_grad()
        for a, b in zip(x.split(3), y.split(3), strict=True):
            (F.mse_loss(model(a), b) / 3).backward()
            if clip_each:
                clip(model.parameters(), limit)
        clip(model.parameters(), limit)
        return flat(p.grad for p in model.parameters())

    torch.testing.assert_close(accumulated(False), whole / 2, rtol=1e-4, atol=1e-6)
    assert (accumulated(True) - whole / 2).norm() > 0.01 * limit


def test_the_variants(task):
    model, x, y = task
    before = gradients(model, x, y)
    norm = clip(model.parameters(), max_norm=float("inf"))
    assert norm.item() == pytest.approx(before.norm().item(), rel=1e-5)
    assert torch.equal(flat(p.grad for p in model.parameters()), before)
    nn.utils.clip_grad_value_(model.parameters(), 0.01)
    after = flat(p.grad for p in model.parameters())
    torch.testing.assert_close(after, before.clamp(-0.01, 0.01), rtol=0, atol=1e-8)
    assert F.cosine_similarity(after, before, dim=0) < 0.99

    gradients(model, x, y)
    groups = [
        {"params": model[0].parameters(), "max_norm": 0.01},
        {"params": model[2].parameters(), "max_norm": 0.02},
    ]
    optimizer = torch.optim.SGD(groups, lr=0.1)
    for g in optimizer.param_groups:
        clip(g["params"], g["max_norm"])
    for layer, limit in ((model[0], 0.01), (model[2], 0.02)):
        norm = flat(p.grad for p in layer.parameters()).norm()
        assert norm.item() == pytest.approx(limit, rel=1e-3)


@pytest.mark.usefixtures("group")
def test_fully_sharded_parameters():
    mesh = dist.init_device_mesh("cpu", (1,))
    model = fully_shard(nn.Linear(4, 1, bias=False), mesh=mesh)
    model(torch.ones(1, 4)).backward()
    norm = clip(model.parameters(), 1.0)
    assert norm.full_tensor() == 2
    torch.testing.assert_close(model.weight.grad.full_tensor(), torch.full((1, 4), 0.5))


def test_the_documented_warnings(task):
    model, *_ = task
    params = model.parameters()
    torch.optim.SGD(params)  # uses the generator up
    with raises_as_documented(PAGE, "UserWarning: `parameters` is an"):
        clip(params, 1.0)
    with raises_as_documented(
        PAGE, "FutureWarning: `torch.nn.utils.clip_grad_norm` is now"
    ):
        nn.utils.clip_grad_norm(model.parameters(), 1.0)
