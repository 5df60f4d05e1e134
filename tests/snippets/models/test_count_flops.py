"""count-flops: published and hand-worked counts, and what is not counted."""

import copy
import re
import sys

import pytest
import torch
import torchinfo
from torch import nn
from torch.nn import functional as F
from torch.utils.flop_counter import FlopCounterMode
from torchvision.models import ResNet18_Weights

from tests.helpers import ROOT, load_snippet, raises_as_documented, recipes

PAGE = "models/count-flops"
snippet = load_snippet("models/count_flops.py")


def flops_of(run):
    with FlopCounterMode(display=False) as counter:
        run()
    return counter.get_total_flops()


def test_twice_the_published_mult_adds_of_resnet18():
    published = ResNet18_Weights.IMAGENET1K_V1.meta["_ops"]  # "GFLOPS" there
    assert snippet.macs / 1e9 == pytest.approx(published, abs=0.001)
    assert snippet.flops == 2 * snippet.macs


def test_the_answer_leaves_a_readers_model_alone():
    """In train mode, in bfloat16, of another size: 2 * n * m * k for each layer."""
    model = nn.Sequential(nn.Linear(5, 7), nn.BatchNorm1d(7), nn.Linear(7, 3))
    names = {"model": model.bfloat16().train(), "x": torch.ones(1, 5).bfloat16()}
    exec(recipes()["count-flops"].answer.text, names)
    assert names["flops"] == 2 * (5 * 7 + 7 * 3)
    assert model.training
    assert model[1].num_batches_tracked == 0
    assert model[0].weight.device.type == "cpu"


def test_it_counts_what_hooks_on_the_layers_count():
    total = 0

    def add(layer, args, output):
        nonlocal total
        total += output.numel() * layer.weight[0].numel()

    model = copy.deepcopy(snippet.model).eval()
    for layer in model.modules():
        if isinstance(layer, nn.Conv2d | nn.Linear):
            layer.register_forward_hook(add)
    model(snippet.x)
    assert total == snippet.macs
    assert snippet.x.shape == (1, 3, 224, 224)


def test_torchinfo_counts_mult_adds():
    table = torchinfo.summary(
        snippet.shapes, input_data=snippet.x.to("meta"), device="meta", verbose=0
    )
    assert table.total_mult_adds == pytest.approx(snippet.macs, rel=0.001)


def test_what_is_printed(capsys):
    load_snippet("models/count_flops.py")
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "3.63 GFLOPs = 1.81 GMACs"
    parts = {line.split()[0]: float(line.split()[1]) for line in lines[1:]}
    assert parts["ResNet.conv1"] == pytest.approx(
        2 * 112 * 112 * 64 * 3 * 49 / 1e9, abs=0.0005
    )
    assert len(parts) == 6  # conv1, four stages, fc
    assert sum(parts.values()) == pytest.approx(3.63, abs=0.01)


def test_a_copy_of_a_model_on_the_meta_device():
    model = nn.Linear(3, 5).to("meta")
    assert flops_of(lambda: model(torch.rand(7, 3, device="meta"))) == 7 * 3 * 5 * 2


class Branch(nn.Linear):
    def forward(self, x):
        y = super().forward(x)
        return y if y.sum() > 0 else -y


class Made(nn.Linear):
    def forward(self, x):
        return super().forward(x) + torch.ones(5)


def test_models_that_need_their_own_device():
    x = torch.rand(7, 3)
    with raises_as_documented(PAGE, "RuntimeError: Tensor.item()"):
        Branch(3, 5).to("meta")(x.to("meta"))
    message = "Tensor on device cpu is not on the expected device meta!"
    with pytest.raises(RuntimeError, match=message):
        Made(3, 5).to("meta")(x.to("meta"))
    page = (ROOT / f"docs/en/{PAGE}.md").read_text("utf-8")
    assert message in " ".join(page.split())
    for model in Branch(3, 5).eval(), Made(3, 5).eval():
        assert flops_of(lambda model=model: model(x)) == 2 * 7 * 3 * 5


def test_the_table_needs_tabulate(monkeypatch):
    class Without:
        def find_spec(self, name, path=None, target=None):
            if name == "tabulate":
                raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    monkeypatch.delitem(sys.modules, "tabulate", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Without(), *sys.meta_path])
    with (
        raises_as_documented(PAGE, "ModuleNotFoundError: No module named 'tabulate'"),
        FlopCounterMode(),
    ):
        nn.Linear(3, 5)(torch.rand(7, 3))


def test_what_is_not_counted():
    x, y = torch.rand(2, 3), torch.rand(2, 4)
    ids = torch.zeros(2, 5, dtype=torch.long)
    for run in (
        lambda: torch.rand(3, 4) @ torch.rand(4),
        lambda: nn.Bilinear(3, 4, 5)(x, y),
        lambda: torch.cdist(torch.rand(50, 3), torch.rand(50, 3)),
        lambda: nn.Embedding(10, 4)(ids),
        lambda: F.layer_norm(F.gelu(x), (3,)).softmax(1).sum(),
        lambda: F.max_pool2d(torch.rand(1, 1, 4, 4), 2),
    ):
        assert flops_of(run) == 0


def test_lstm_is_counted_on_the_meta_device():
    layer, x = nn.LSTM(4, 8, batch_first=True), torch.rand(2, 5, 4)
    assert flops_of(lambda: layer(x)) == 0
    layer, x = layer.to("meta"), x.to("meta")
    assert flops_of(lambda: layer(x)) == 2 * (2 * 5) * 4 * 8 * (4 + 8)


def test_the_fast_path_of_the_transformer_is_counted_on_the_meta_device():
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True).eval()
    x = torch.rand(2, 5, 8)
    projections = 2 * 2 * 5 * (4 * 8 * 8 + 2 * 8 * 16)
    attention = 2 * 2 * (2 * 5 * 5 * 8)
    with torch.no_grad():
        assert flops_of(lambda: layer(x)) == 0
        layer, x = layer.to("meta"), x.to("meta")
        assert flops_of(lambda: layer(x)) == projections + attention


def test_attention_on_a_cpu():
    q = torch.rand(2, 2, 5, 4)
    found = flops_of(lambda: F.scaled_dot_product_attention(q, q, q))
    assert found == (1600 if torch.__version__ >= "2.15" else 0)


def test_a_training_step_is_three_times_the_forward_pass():
    layer = nn.Conv2d(4, 6, 3)
    x = torch.rand(1, 4, 8, 8, requires_grad=True)
    forward = flops_of(lambda: layer(x))
    assert forward == 2 * 36 * 6 * 4 * 9
    assert flops_of(lambda: layer(x).sum().backward()) == 3 * forward


def test_backward_of_groups_is_counted_too_high():
    layer, x = nn.Conv2d(6, 6, 3, groups=3), torch.rand(1, 6, 8, 8)
    forward = flops_of(lambda: layer(x))
    assert forward == 2 * 36 * 6 * 2 * 9
    both = flops_of(lambda: layer(x).sum().backward())  # the weight's gradient only
    assert both == forward + 3 * forward


def test_boxes_can_not_be_selected_on_meta():
    said = (
        "The register_meta function for torch.nonzero() raises unimplemented by default"
    )
    assert said in (ROOT / "docs/en/models/count-flops.md").read_text("utf-8")
    with pytest.raises(NotImplementedError, match=re.escape(said)):
        torch.ones(3, device="meta").nonzero()
