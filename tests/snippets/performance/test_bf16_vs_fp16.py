"""bf16-vs-fp16: bits worked by hand, NumPy's float16, and the choice of a dtype."""

import numpy as np
import pytest
import torch
from torch import nn

from tests.helpers import ROOT, load_snippet, raises_as_documented, recipes

SNIPPET = "performance/bf16_vs_fp16.py"
PAGE = "performance/bf16-vs-fp16"
ANSWER = recipes()["bf16-vs-fp16"].answer
BF16, FP16 = torch.bfloat16, torch.float16
SOURCE = (ROOT / "snippets" / SNIPPET).read_text("utf-8")


def bfloat16(value):
    """The upper half of float32's bits, rounded to nearest, ties to even."""
    bits = int(np.float32(value).view(np.uint32))
    upper = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16
    return np.uint32(upper << 16).view(np.float32).item()


def test_what_is_printed(capsys):
    load_snippet(SNIPPET)
    lines = capsys.readouterr().out.splitlines()
    stored = {
        "float32": [np.float32(v) for v in (70_000, 1e-8, 1.003)],
        "bfloat16": [bfloat16(v) for v in (70_000, 1e-8, 1.003)],
        "float16": [np.inf, *np.float16([1e-8, 1.003])],
    }
    assert lines == [
        f"torch.{name} stores " + " ".join(f"{v:.5g}" for v in values)
        for name, values in stored.items()
    ]


def test_the_largest_numbers_of_the_table():
    """(2 - step after 1) * 2**highest exponent."""
    assert torch.finfo(BF16).max == (2 - 2**-7) * 2.0**127
    assert torch.finfo(FP16).max == (2 - 2**-10) * 2.0**15 == 65504


@pytest.mark.parametrize("value", [0.1, 1.001, 1.003, 257, 3e38, 1e-8])
def test_bfloat16_is_the_upper_half_of_float32(value):
    assert torch.tensor(value, dtype=BF16).item() == bfloat16(value)


def test_whole_numbers():
    for dtype, exact in ((BF16, 256), (FP16, 2048)):
        numbers = torch.arange(exact + 2)
        kept = numbers.to(dtype).long() == numbers
        assert kept[:-1].all()
        assert not kept[-1]


@pytest.mark.parametrize(
    ("device", "native", "half"),
    [
        ("cuda", True, BF16),
        ("cuda", False, FP16),
        ("cpu", False, BF16),
        ("mps", False, BF16),
    ],
)
def test_the_choice(monkeypatch, device, native, half):
    asked = []

    def supported(including_emulation=True):
        asked.append(including_emulation)
        return native

    monkeypatch.setattr(torch.cuda, "is_bf16_supported", supported)
    common = torch.cuda.amp.common  # else a scaler for CUDA switches itself off
    monkeypatch.setattr(common, "amp_definitely_not_available", lambda: False)
    names = {"torch": torch, "device": torch.device(device)}
    exec(ANSWER.text, names)
    assert set(ANSWER.yours) == {"device"}
    assert names["half"] == half
    assert names["old"] == names["scaler"].is_enabled() == (half == FP16)
    assert asked == [False]


def test_without_float16_the_scaler_changes_nothing(monkeypatch):
    steps = []
    step = torch.optim.SGD.step
    monkeypatch.setattr(
        torch.optim.SGD, "step", lambda self: (steps.append(self), step(self))[1]
    )
    torch.manual_seed(0)
    found = load_snippet(SNIPPET)
    assert not found.scaler.is_enabled()
    assert found.scaler.scale(found.loss) is found.loss
    assert len(steps) == 1
    for parameter in found.model.parameters():
        assert parameter.dtype == parameter.grad.dtype == torch.float32
        assert parameter.grad.abs().max() > 0
    # the step moved the weight by lr * gradient, and the product was in bfloat16
    with torch.no_grad():
        before = found.model(found.x) + 0.1 * (
            found.x @ found.model.weight.grad.T + found.model.bias.grad
        )
    assert found.loss.item() == pytest.approx(before.square().mean().item(), rel=0.03)
    assert found.loss.item() != before.square().mean().item()


def test_float16_is_scaled():
    source = SOURCE.replace('device.type == "cuda" and not native', "True")
    line = "scaler.scale(loss)"
    assert source.count(line) == 1
    names = {}  # a first scale of 65536 would be too high here
    exec(source.replace(line, f"scaler._init_scale = 8.0; {line}"), names)
    assert names["half"] == FP16
    assert names["scaler"].get_scale() == 8
    model, x = names["model"], names["x"]
    found = [p.grad for p in model.parameters()]  # unscaled before the step
    with torch.no_grad():  # back to where it was
        for parameter, grad in zip(model.parameters(), found, strict=True):
            parameter += 0.1 * grad
    expected = torch.autograd.grad(model(x).square().mean(), model.parameters())
    torch.testing.assert_close(found, list(expected), rtol=0.01, atol=0.01)


def test_converted_weights_become_inf():
    layer = nn.Linear(2, 1).to(BF16)
    with torch.no_grad():
        layer.weight.fill_(1e5)
    assert layer.half().weight.isinf().all()


def test_small_updates_are_lost():
    weight = nn.Parameter(torch.ones(1, dtype=BF16))
    weight.grad = torch.ones_like(weight)
    torch.optim.SGD([weight], lr=1e-3).step()
    assert weight.item() == 1


def test_a_counter_stops_at_256():
    total = torch.tensor(0, dtype=BF16)
    for _ in range(300):
        total += 1
    assert total.item() == 256


def test_the_tolerances_of_assert_close():
    for dtype, allowed in ((BF16, 0.016), (FP16, 0.001)):
        one = torch.tensor(1024, dtype=dtype)
        torch.testing.assert_close(one, one * (1 + 0.6 * allowed))
        with pytest.raises(AssertionError, match="not close"):
            torch.testing.assert_close(one, one * (1 + 2 * allowed))


def test_a_gpu_without_bfloat16(monkeypatch):
    common = torch.cuda.amp.common
    monkeypatch.setattr(common, "amp_definitely_not_available", lambda: False)
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda: False)
    with raises_as_documented(PAGE, "RuntimeError: Current CUDA Device"):
        torch.autocast("cuda", dtype=BF16)


def test_a_scaler_needs_float32_weights():
    model, scaler = nn.Linear(3, 2).half(), torch.amp.GradScaler("cpu")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler.scale(model(torch.rand(2, 3).half()).sum()).backward()
    with raises_as_documented(PAGE, "ValueError: Attempting to unscale"):
        scaler.unscale_(optimizer)
