"""estimate-training-memory: bytes counted by hand, and those of a run on the CPU."""

import runpy

import pytest
import torch
from torch import nn

from tests.helpers import ROOT, load_snippet, raises_as_documented, recipes

SNIPPET = "errors/estimate_training_memory.py"
PAGES = [
    ROOT / f"docs/{lang}/errors/estimate-training-memory.md" for lang in ("en", "zh")
]
training_bytes = load_snippet(SNIPPET).training_bytes


def mlp():
    layers = nn.Linear(10, 20), nn.ReLU(inplace=True), nn.BatchNorm1d(20)
    return nn.Sequential(*layers, nn.Linear(20, 5))


def hand_worked(batch):
    """Kept: the input; what ReLU wrote in place; the norm's output, mean and std."""
    weights = 4 * (10 * 20 + 20 + 20 + 20 + 20 * 5 + 5)
    return {
        "weights": weights,
        "gradients": weights,
        "AdamW": 2 * weights,  # two moments
        "activations": 4 * (batch * (10 + 20 + 20) + 2 * 20),
    }


@pytest.mark.parametrize("device", ["meta", "cpu"])
@pytest.mark.parametrize("batch", [4, 8])
def test_bytes_by_hand_on_both_devices(device, batch):
    with torch.device(device):
        found = training_bytes(mlp(), torch.randn(batch, 10))
    assert found == hand_worked(batch)


def test_half_precision():
    with torch.device("meta"):
        model, x = mlp().bfloat16(), torch.randn(4, 10, dtype=torch.bfloat16)
    found = training_bytes(model, x)
    weights = hand_worked(4)["weights"] // 2
    assert found["weights"] == found["gradients"] == weights
    assert found["AdamW"] == 2 * weights


def test_frozen_weights_have_neither_gradient_nor_state():
    with torch.device("meta"):
        model, x = mlp(), torch.randn(4, 10)
    model[0].requires_grad_(requires_grad=False)
    found = training_bytes(model, x)
    trained = hand_worked(4)["weights"] - 4 * (10 * 20 + 20)
    assert found["weights"] == hand_worked(4)["weights"]
    assert found["gradients"] == trained
    assert found["AdamW"] == 2 * trained


def test_what_is_printed_is_the_formula_and_the_count(capsys):
    scope = runpy.run_path(str(ROOT / "snippets" / SNIPPET), run_name="__main__")
    n = sum(p.numel() for p in scope["model"].parameters())
    assert n == 25_557_032  # of torchvision's documentation
    found = scope["found"]
    counted = found["weights"] + found["gradients"] + found["AdamW"]
    assert counted == 16 * n
    printed = capsys.readouterr().out.splitlines()
    assert printed[3] == f"activations {found['activations'] / 2**20:5.0f} MiB"
    total = counted + found["activations"]
    assert printed[4] == f"total       {total / 2**20:5.0f} MiB"
    assert all(p.is_meta for p in scope["model"].parameters())
    assert scope["x"].shape == (32, 3, 224, 224)


def test_4_bits_per_weight():
    assert round(7e9 / 2 / 2**30, 1) == 3.3


def test_8_bit_adamw_has_a_byte_for_each_moment():
    size = 2 + 2 + 1 + 1  # the weight and its gradient in bfloat16, the two moments
    for page in PAGES:
        assert f"| {size} | {7e9 * size / 2**30:.0f} GiB |" in page.read_text()


class Positions(nn.Module):
    """Makes a tensor in forward, on the default device."""

    def __init__(self):
        super().__init__()
        self.position = nn.Embedding(16, 4)

    def forward(self, x):
        return x + self.position(torch.arange(x.shape[1]))


def test_the_answer_counts_a_model_that_makes_tensors_in_forward():
    answer = recipes()["estimate-training-memory"].answer
    assert list(answer.yours) == ["training_bytes"]
    text = answer.text.replace("resnet50()  # yours", "Positions()")
    text = text.replace("32, 3, 224, 224", "2, 16, 4")
    names = {"training_bytes": training_bytes, "Positions": Positions}
    exec(text, names)
    assert names["found"]["weights"] == 4 * 16 * 4
    assert names["found"]["activations"] == 8 * 16  # the indices


def test_a_model_that_reads_a_value_is_built_on_the_cpu():
    def net():
        rates = [rate.item() for rate in torch.linspace(0, 0.1, 3)]
        return nn.Sequential(*(nn.Dropout(rate) for rate in rates), nn.Linear(2, 2))

    error = "RuntimeError: Tensor.item() cannot"
    with (
        raises_as_documented("errors/estimate-training-memory", error),
        torch.device("meta"),
    ):
        net()
    model = net().to("meta")
    with torch.device("meta"):
        assert training_bytes(model, torch.randn(3, 2))["weights"] == 4 * 6


SGD, ADAMW = torch.optim.SGD, torch.optim.AdamW


@pytest.mark.parametrize(
    ("make", "dtype", "size", "gib"),
    [
        (ADAMW, torch.float32, 16, 104),
        (torch.optim.Adam, torch.float32, 16, 104),
        (lambda p: SGD(p, momentum=0.9), torch.float32, 12, 78),
        (SGD, torch.float32, 8, 52),
        (ADAMW, torch.bfloat16, 8, 52),
        (None, torch.bfloat16, 2, 13),
    ],
)
def test_each_row_of_the_table(make, dtype, size, gib):
    model = nn.Linear(8, 8, bias=False, dtype=dtype)
    held = model.weight.nbytes
    if make:
        optimizer = make(model.parameters())
        model(torch.ones(1, 8, dtype=dtype)).sum().backward()
        optimizer.step()
        state = [v for s in optimizer.state.values() for v in s.values()]
        held += model.weight.grad.nbytes
        held += sum(t.nbytes for t in state if torch.is_tensor(t) and t.ndim)
    assert held == size * model.weight.numel()
    assert round(7e9 * size / 2**30) == gib
    for page in PAGES:
        assert f"| {size} | {gib} GiB |" in page.read_text()


def test_attention_on_the_meta_device_can_store_a_matrix_per_head():
    found = {}
    for device in ("meta", "cpu"):
        with torch.device(device):
            layer = nn.TransformerEncoderLayer(64, 4, 128, 0.0, batch_first=True)
            found[device] = training_bytes(layer, torch.randn(2, 256, 64))
    assert found["meta"].pop("activations") >= found["cpu"].pop("activations")
    assert found["meta"] == found["cpu"]
