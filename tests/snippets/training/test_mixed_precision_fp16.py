"""mixed-precision, float16: the run against float32, and what the scaler does."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from tests.helpers import ROOT, load_snippet, raises_as_documented

SNIPPET = "training/mixed_precision_fp16.py"
PAGE = "training/mixed-precision"
snippet = load_snippet(SNIPPET)


def run(old: str, new: str) -> dict:
    """The snippet with one change; its variables."""
    source = (ROOT / "snippets" / SNIPPET).read_text("utf-8")
    assert source.count(old) == 1, old
    names = {}
    exec(source.replace(old, new), names)
    return names


def weights(model):
    return nn.utils.parameters_to_vector(model.parameters()).detach().cpu()


def in_float32(steps: int, max_norm: float):
    """The same training without autocast and scaler."""
    torch.manual_seed(0)
    model = nn.Linear(20, 3)
    x = torch.randn(96, 20)
    optimizer, norms = torch.optim.SGD(model.parameters(), lr=0.5), []
    for _ in range(steps):
        loss = F.cross_entropy(model(x), x[:, :3].argmax(1))
        optimizer.zero_grad()
        loss.backward()
        norms.append(nn.utils.clip_grad_norm_(model.parameters(), max_norm).item())
        optimizer.step()
    return model, loss.item(), norms


def test_the_run_is_close_to_float32_but_rounded():
    model, loss, norms = in_float32(20, max_norm=1.0)
    assert snippet.loss.item() == pytest.approx(loss, rel=5e-3)
    torch.testing.assert_close(
        weights(snippet.model), weights(model), rtol=0, atol=2e-3
    )
    assert not torch.equal(weights(snippet.model), weights(model))
    assert weights(snippet.model).dtype == torch.float32
    assert snippet.scaler.get_scale() == 65536
    assert snippet.scaler.state_dict()["_growth_tracker"] == 20  # all of them good
    assert max(norms) < 1  # so this run is not clipped; the next one is


def test_the_unscaled_gradient_is_clipped():
    names = run("max_norm=1.0", "max_norm=0.01")
    model, loss, norms = in_float32(20, max_norm=0.01)
    assert min(norms) > 0.01
    assert names["loss"].item() == pytest.approx(loss, rel=5e-3)
    torch.testing.assert_close(
        weights(names["model"]), weights(model), rtol=0, atol=2e-3
    )


def test_forward_runs_in_float16_whatever_the_default():
    seen = []
    hook = "loss_fn = nn.Linear(20, 3).to(device), nn.CrossEntropyLoss()"
    spied = f"{hook}\nmodel.register_forward_hook(lambda m, a, y: seen.append(y.dtype))"
    source = (ROOT / "snippets" / SNIPPET).read_text("utf-8")
    assert torch.get_autocast_dtype("cpu") == torch.bfloat16
    exec(source.replace(hook, spied), {"seen": seen})
    assert seen == [torch.float16] * 20


def test_small_gradients_survive_because_of_the_scale():
    small = "loss = loss_fn(model(x), y) * 1e-7"
    scaled = run("loss = loss_fn(model(x), y)", small)
    gradient = weights_gradient(scaled["model"])
    assert (gradient != 0).float().mean() > 0.9
    source = (ROOT / "snippets" / SNIPPET).read_text("utf-8")
    source = source.replace("loss = loss_fn(model(x), y)", small)
    names = {}
    exec(source.replace("(device.type)", "(device.type, init_scale=1.0)"), names)
    assert (weights_gradient(names["model"]) == 0).float().mean() > 0.9


def weights_gradient(model):
    return torch.cat([p.grad.flatten() for p in model.parameters()])


def test_an_overflow_skips_the_step_and_halves_the_scale():
    too_high = "(device.type, init_scale=2.0**30)"
    names = run("(device.type)", too_high)
    assert names["scaler"].get_scale() < 2.0**29
    first = run("(device.type)", f"{too_high}\nrange = lambda n: [0]")
    torch.manual_seed(0)
    assert torch.equal(weights(first["model"]), weights(nn.Linear(20, 3)))
    assert first["scaler"].get_scale() == 2.0**29
    assert names["loss"] < first["loss"]  # later it trains


@pytest.mark.parametrize("poison", ["inf", "nan"])
def test_a_bad_gradient_never_reaches_the_weights(poison):
    names = run(
        "y = x[:, :3].argmax(1)", f"y = x[:, :3].argmax(1); x[0, 0] = float('{poison}')"
    )
    torch.manual_seed(0)
    assert torch.equal(weights(names["model"]), weights(nn.Linear(20, 3)))
    assert names["scaler"].get_scale() == 2.0 ** (16 - 20)  # "keeps falling below 1"


def test_the_scale_doubles_after_2000_good_steps():
    assert torch.amp.GradScaler("cpu").get_growth_interval() == 2000
    names = run("(device.type)", "(device.type, growth_interval=10)")
    assert names["scaler"].get_scale() == 4 * 65536


def step(scaler, model, optimizer, backward=True):
    loss = scaler.scale(model(torch.ones(2, 3)).sum())
    if backward:
        loss.backward()
    scaler.step(optimizer)
    scaler.update()


def test_a_skipped_first_step_alarms_the_scheduler():
    model = nn.Linear(3, 3)
    optimizer = torch.optim.SGD(model.parameters())
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1)
    step(torch.amp.GradScaler("cpu", init_scale=2.0**127), model, optimizer)
    with pytest.warns(UserWarning, match="Detected call of"):
        scheduler.step()


def test_a_half_model_is_refused():
    model = nn.Linear(3, 3).half()
    optimizer = torch.optim.SGD(model.parameters())
    scaler = torch.amp.GradScaler("cpu", init_scale=1.0)
    scaler.scale(model(torch.ones(2, 3).half()).sum()).backward()
    with raises_as_documented(PAGE, "ValueError: Attempting to unscale"):
        scaler.unscale_(optimizer)


def test_an_optimizer_without_gradients_is_refused():
    model = nn.Linear(3, 3)
    optimizer = torch.optim.SGD(model.parameters())
    with raises_as_documented(PAGE, "AssertionError: No inf checks"):
        step(torch.amp.GradScaler("cpu"), model, optimizer, backward=False)


def test_the_state_of_the_scaler_is_a_dictionary_of_numbers():
    state = snippet.scaler.state_dict()
    other = torch.amp.GradScaler(snippet.device.type, init_scale=1.0)
    other.load_state_dict(state)
    assert other.get_scale() == 65536
