"""estimate-training-memory: bytes counted by hand, and those of a run on the CPU."""

import pytest
import torch
from torch import nn

from tests.helpers import ROOT, load_snippet, raises_as_documented, recipes

SNIPPET = "errors/estimate_training_memory.py"
PAGES = [
    ROOT / f"docs/{lang}/errors/estimate-training-memory.md" for lang in ("en", "zh")
]
ANSWER = recipes()["estimate-training-memory"].answer
activation_bytes = load_snippet(SNIPPET).activation_bytes


def training_bytes(build, device="meta"):
    """What the answer counts for a reader's model and input; all on that device."""
    line = "    model, x = resnet50(), torch.randn(32, 3, 224, 224)  # yours"
    assert ANSWER.text.count(line) == 1
    text = ANSWER.text.replace(line, "    model, x = build()")
    names = {"build": build}
    exec(text.replace('"meta"', repr(device)), names)
    return {name: names[name] for name in ("weights", "trained", "activations")}


def mlp():
    layers = nn.Linear(10, 20), nn.ReLU(inplace=True), nn.BatchNorm1d(20)
    return nn.Sequential(*layers, nn.Linear(20, 5))


def hand_worked(batch):
    """Kept: the input; what ReLU wrote in place; the norm's output, mean and std."""
    weights = 4 * (10 * 20 + 20 + 20 + 20 + 20 * 5 + 5)
    return {
        "weights": weights,
        "trained": weights,
        "activations": 4 * (batch * (10 + 20 + 20) + 2 * 20),
    }


@pytest.mark.parametrize("device", ["meta", "cpu"])
@pytest.mark.parametrize("batch", [4, 8])
def test_bytes_by_hand_on_both_devices(device, batch):
    found = training_bytes(lambda: (mlp(), torch.randn(batch, 10)), device)
    assert found == hand_worked(batch)


def test_half_precision():
    found = training_bytes(lambda: (mlp().bfloat16(), torch.randn(4, 10).bfloat16()))
    expected = hand_worked(4)
    assert found["weights"] == found["trained"] == expected["weights"] // 2
    norm = 4 * 2 * 20  # mean and std of the norm stay float32
    assert found["activations"] == (expected["activations"] - norm) / 2 + norm


def test_frozen_weights_have_neither_gradient_nor_state():
    def build():
        model = mlp()
        model[0].requires_grad_(requires_grad=False)
        return model, torch.randn(4, 10)

    found = training_bytes(build)
    assert found["weights"] == hand_worked(4)["weights"]
    assert found["trained"] == hand_worked(4)["weights"] - 4 * (10 * 20 + 20)


def test_what_is_printed_is_the_formula_and_the_count(capsys):
    assert not ANSWER.yours
    exec(ANSWER.text, names := {})
    n = sum(p.numel() for p in names["model"].parameters())
    assert n == 25_557_032  # of torchvision's documentation
    activations = names["activations"]
    total = (16 * n + activations) / 2**20
    printed = f"{total:.0f} MiB, of which activations {activations / 2**20:.0f}\n"
    assert capsys.readouterr().out == printed
    assert all(p.is_meta for p in names["model"].parameters())
    assert names["x"].shape == (32, 3, 224, 224)


class WithLoss(nn.Module):
    """As a language model: named inputs, a dictionary, tied weights."""

    def __init__(self):
        super().__init__()
        self.embed, self.head = nn.Embedding(50, 8), nn.Linear(8, 50, bias=False)
        self.head.weight = self.embed.weight

    def forward(self, input_ids, labels=None):
        logits = self.head(self.embed(input_ids))
        if labels is None:
            return {"logits": logits}
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten())
        return {"logits": logits, "loss": loss}


def test_named_inputs_and_any_output():
    with torch.device("meta"):
        model, ids = WithLoss(), torch.zeros(3, 5, dtype=torch.long)
        without = activation_bytes(model, ids)
        found = activation_bytes(model, input_ids=ids, labels=ids)
    assert without == 8 * 15 + 4 * 15 * 8  # the indices, what the head takes
    assert found - without >= 4 * 15 * 50  # the logarithms of the probabilities


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
    found = training_bytes(lambda: (Positions(), torch.randn(2, 16, 4)))
    assert found["weights"] == 4 * 16 * 4
    assert found["activations"] == 8 * 16  # the indices


def test_a_model_that_reads_a_value_is_built_on_the_cpu():
    def net():
        rates = [rate.item() for rate in torch.linspace(0, 0.1, 3)]
        return nn.Sequential(*(nn.Dropout(rate) for rate in rates), nn.Linear(2, 2))

    error = "RuntimeError: Tensor.item() cannot"
    with raises_as_documented("errors/estimate-training-memory", error):
        training_bytes(lambda: (net(), torch.randn(3, 2)))
    model = net().to("meta")
    found = training_bytes(lambda: (model, torch.randn(3, 2)))
    assert found["weights"] == 4 * 6


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
    def build():
        layer = nn.TransformerEncoderLayer(64, 4, 128, 0.0, batch_first=True)
        return layer, torch.randn(2, 256, 64)

    found = {device: training_bytes(build, device) for device in ("meta", "cpu")}
    assert found["meta"].pop("activations") >= found["cpu"].pop("activations")
    assert found["meta"] == found["cpu"]
