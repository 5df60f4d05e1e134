"""faster-inference: against float64; the lines of its table; what float16 says."""

import pytest
import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from tests.helpers import ROOT, load_snippet, raises_as_documented, run_on

PAGE = "performance/faster-inference"


@pytest.fixture
def seen(monkeypatch):
    found, forward = [], nn.Conv2d.forward

    def noted(layer, x):
        last = x.is_contiguous(memory_format=torch.channels_last)
        mode = torch.is_inference_mode_enabled()
        found.append((x.shape[0], x.dtype, last, mode, layer.training))
        return forward(layer, x)

    monkeypatch.setattr(nn.Conv2d, "forward", noted)
    return found


def test_one_batch_in_the_layout_and_without_records(seen, monkeypatch):
    names = run_on(None, "performance/faster_inference.py", monkeypatch)
    assert seen[2:] == [(8, torch.float32, True, True, False)] * 2
    x = torch.stack(names.images).double()
    torch.testing.assert_close(
        names.y.double(), names.model.double()(x), rtol=1e-4, atol=1e-5
    )


@pytest.mark.usefixtures("switches")
@pytest.mark.filterwarnings("ignore:This DataLoader will create")  # of few cores
def test_the_lines_of_the_table_run(monkeypatch):
    monkeypatch.setattr(torch, "compile", lambda model, mode: model)
    page = (ROOT / f"docs/en/{PAGE}.md").read_text(encoding="utf-8")
    rows = [line.split("|")[2] for line in page.splitlines() if line.count("|") == 4]
    images = load_snippet("performance/faster_inference.py").images
    names = {"torch": torch, "DataLoader": torch.utils.data.DataLoader}
    names |= {"images": images, "files": images, "x": images[0], "outputs": []}
    names["model"] = nn.Conv2d(3, 4, 3)
    names["y"] = torch.zeros(1)
    precision = torch.get_float32_matmul_precision()
    codes = [code for row in rows[2:] for code in row.split("`")[1::2]]
    codes = [c for c in codes if "=" in c or c.startswith(("model.", "torch.", "out"))]
    try:
        for code in codes:
            exec(code, names)
    finally:
        torch.set_float32_matmul_precision(precision)
    assert len(codes) == 11
    assert names["y"].shape == (8, 4, 30, 30)
    assert names["model"].weight.dtype == names["x"].dtype == torch.float16
    assert names["model"].weight.is_contiguous(memory_format=torch.channels_last)


def test_the_flops_of_resnet34():
    models = pytest.importorskip("torchvision.models")
    model = models.resnet34().eval().to("meta")
    with FlopCounterMode(display=False) as counter:
        model(torch.empty(1, 3, 224, 224, device="meta"))
    assert counter.get_total_flops() == pytest.approx(7.3e9, rel=0.01)


def test_an_input_left_in_float32():
    model = nn.Conv2d(3, 4, 3).half()
    with raises_as_documented(PAGE, "RuntimeError: Input type (float)"):
        model(torch.randn(1, 3, 8, 8))
