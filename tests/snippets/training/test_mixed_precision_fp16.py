"""mixed-precision, float16: the same function on the CPU, where all of it runs."""

import copy

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from tests.helpers import ROOT, load_snippet, raises_as_documented

SNIPPET = "training/mixed_precision_fp16.py"
train_step = load_snippet(SNIPPET).train_step
PAGE = "training/mixed-precision"


@pytest.fixture
def task():
    torch.manual_seed(0)
    x = torch.randn(64, 20)
    model = nn.Sequential(nn.Linear(20, 3))
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    return model, optimizer, x, x[:, :3].argmax(1)


def weights(model):
    return nn.utils.parameters_to_vector(model.parameters()).detach().clone()


def test_the_demonstration_runs_on_the_cpu(capsys):
    source = (ROOT / "snippets" / SNIPPET).read_text()
    assert source.count('"cuda"') == 3
    exec(source.replace('"cuda"', '"cpu"'), {"__name__": "__main__"})
    printed = capsys.readouterr().out
    assert printed == "first step skipped, scale halved; then the loss falls\n"


@pytest.mark.parametrize("scale", [1.0, 2.0**16])
def test_a_step_is_close_to_float32_whatever_the_scale(task, scale):
    model, optimizer, x, target = task
    reference = copy.deepcopy(model)
    expected_loss = F.cross_entropy(reference(x), target)
    expected_loss.backward()
    torch.optim.SGD(reference.parameters(), lr=1.0).step()

    model(x).sum().backward()  # stale gradients, which must not count
    scaler = torch.amp.GradScaler("cpu", init_scale=scale)
    loss = train_step(model, optimizer, scaler, x, target, max_norm=1e3)
    torch.testing.assert_close(loss, expected_loss.detach(), rtol=1e-3, atol=0)
    assert not loss.requires_grad
    torch.testing.assert_close(weights(model), weights(reference), rtol=0, atol=1e-3)
    assert not torch.equal(weights(model), weights(reference))  # it was rounded
    assert weights(model).dtype == torch.float32


def test_the_unscaled_gradient_is_clipped(task):
    model, optimizer, x, target = task
    before = weights(model)
    scaler = torch.amp.GradScaler("cpu")
    train_step(model, optimizer, scaler, x, target, max_norm=0.01)
    # With SGD and lr=1 the step is as long as the clipped gradient.
    assert (weights(model) - before).norm().item() == pytest.approx(0.01, rel=1e-2)


def test_small_gradients_survive_because_of_the_scale(task):
    model, _, x, target = task
    with torch.no_grad():
        model[0].weight.copy_(20 * F.one_hot(torch.arange(3), 20))
        x[:, :3] = F.one_hot(target, 3)  # nearly perfect: tiny gradients
    updates = {}
    for scale in (1.0, 2.0**16):
        copied = copy.deepcopy(model)
        optimizer = torch.optim.SGD(copied.parameters(), lr=1e9)
        scaler = torch.amp.GradScaler("cpu", init_scale=scale)
        train_step(copied, optimizer, scaler, x, target)
        updates[scale] = (weights(copied) - weights(model)).abs().max()
    assert updates[1.0] == 0
    assert updates[2.0**16] > 0


@pytest.mark.parametrize("poison", [float("inf"), float("nan")])
def test_a_bad_gradient_skips_the_step_and_halves_the_scale(task, poison):
    model, optimizer, x, target = task
    scaler = torch.amp.GradScaler("cpu")
    before = weights(model)
    train_step(model, optimizer, scaler, x.fill_(poison), target)
    assert torch.equal(weights(model), before)
    assert scaler.get_scale() == 2.0**15
    train_step(model, optimizer, scaler, torch.randn(64, 20), target)
    assert not torch.equal(weights(model), before)
    assert weights(model).isfinite().all()


def test_the_scale_doubles_after_2000_good_steps(task):
    model, optimizer, x, target = task
    scaler = torch.amp.GradScaler("cpu")
    assert scaler.get_growth_interval() == 2000
    state = {**scaler.state_dict(), "_growth_tracker": 1999}
    scaler.load_state_dict(state)
    train_step(model, optimizer, scaler, x, target)
    assert scaler.get_scale() == 2.0**17


def test_a_skipped_first_step_alarms_the_scheduler(task):
    model, optimizer, x, target = task
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1)
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**40)
    train_step(model, optimizer, scaler, x, target)
    with raises_as_documented(PAGE):
        scheduler.step()


def test_a_half_model_and_a_second_unscale_are_refused(task):
    model, optimizer, x, target = task
    model.half()
    with raises_as_documented(PAGE):
        train_step(model, optimizer, torch.amp.GradScaler("cpu"), x, target)
    model.float()
    scaler = torch.amp.GradScaler("cpu")
    optimizer.zero_grad()
    scaler.scale(model(x).sum()).backward()
    scaler.unscale_(optimizer)
    with pytest.raises(RuntimeError, match="already been called"):
        scaler.unscale_(optimizer)


def test_an_optimizer_without_gradients_is_refused(task):
    model, optimizer, x, _ = task
    scaler = torch.amp.GradScaler("cpu")
    scaler.scale(model(x).sum())  # and no backward
    with raises_as_documented(PAGE):
        scaler.step(optimizer)
