"""model-summary: rows of the table by hand, what has no row, and the messages."""

import re

import pytest
import torch
import torchinfo
from torch import nn
from torch.nn import functional as F

from tests.helpers import load_snippet, raises_as_documented

PAGE = "models/model-summary"


class Net(nn.Module):
    """A recurrent layer, attention, a function, and a layer that is not called."""

    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTM(3, 4, batch_first=True)
        self.norm = nn.BatchNorm1d(5)
        self.attention = nn.MultiheadAttention(4, 2, batch_first=True)
        self.unused = nn.Linear(3, 7)

    def forward(self, x):
        x = F.relu(self.norm(self.rnn(x)[0]))
        return self.attention(x, x, x)[0] + x


def test_the_demonstration_by_hand(capsys):
    snippet = load_snippet("models/model_summary.py")
    printed, _, table = capsys.readouterr().out.partition("=====")
    assert printed == f"{snippet.model}\n"
    rows = [line.strip(" ├└│─") for line in table.splitlines()]
    cells = [re.split(r"\s{2,}", row) for row in rows]
    for row in (
        ["Sequential", "[1, 10]", "--"],
        ["Conv2d: 2-1", "[1, 8, 26, 26]", str(8 * 9 + 8)],
        ["MaxPool2d: 2-3", "[1, 8, 13, 13]", "--"],
        ["Flatten: 1-2", "[1, 1352]", "--"],
        ["Linear: 1-3", "[1, 10]", f"{13520 + 10:,}"],
    ):
        assert row in cells


def test_nothing_is_left_behind():
    model = Net()
    before = {key: value.clone() for key, value in model.state_dict().items()}
    torchinfo.summary(model, input_data=torch.rand(2, 5, 3), verbose=0)
    torch.testing.assert_close(model.state_dict(), before)
    assert model.training
    assert not any(layer._forward_hooks for layer in model.modules())


def test_torchinfo_gives_every_layer_the_mode_of_the_model():
    model = Net()
    model.norm.eval()
    torchinfo.summary(model, input_size=(2, 5, 3), verbose=0)
    assert model.norm.training


def test_the_same_shapes_and_numbers_as_torchinfo():
    shapes = {}
    model = Net().eval()
    table = torchinfo.summary(model, input_size=(2, 5, 3), verbose=0, depth=9)
    for row in table.summary_list:
        shapes[row.var_name] = row.output_size
    assert shapes["rnn"] == shapes["attention"] == [2, 5, 4]
    assert table.total_params == sum(p.numel() for p in model.parameters())
    assert "unused" not in str(table)  # but it is in the sum
    assert "Linear" not in str(table)


def test_the_size_includes_the_batch():
    model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.Flatten(), nn.Linear(8 * 36, 2))
    with raises_as_documented(PAGE, "RuntimeError: Failed to run") as caught:
        torchinfo.summary(model, input_size=(3, 8, 8), verbose=0)
    assert "Executed layers up to: [Conv2d: 1, Flatten: 1]" in str(caught.value)
    assert "mat1 and mat2" in str(caught.value.__cause__)
    table = torchinfo.summary(model, input_size=(1, 3, 8, 8), verbose=0)
    assert table.summary_list[0].output_size == [1, 2]


def test_an_embedding_needs_integers():
    model = nn.Sequential(nn.Embedding(10, 4))
    with pytest.raises(RuntimeError, match="Failed to run torchinfo") as caught:
        torchinfo.summary(model, input_size=(1, 128), verbose=0)
    with raises_as_documented(PAGE, "RuntimeError: Expected tensor for argument #1"):
        raise caught.value.__cause__
    ids = torch.zeros(1, 128, dtype=torch.long)
    for given in (
        {"input_size": (1, 128), "dtypes": [torch.long]},
        {"input_data": ids},
    ):
        table = torchinfo.summary(model, verbose=0, **given)
        assert table.summary_list[0].output_size == [1, 128, 4]


def test_a_script_prints_the_table_itself(capsys):
    model = nn.Linear(3, 4)
    table = torchinfo.summary(model, input_size=(1, 3))
    assert capsys.readouterr().out.count("Total params") == 1
    torchinfo.summary(model, input_size=(1, 3), verbose=0)
    assert capsys.readouterr().out == ""
    assert "Total params: 16" in str(table)


def test_two_inputs():
    model = nn.Bilinear(3, 4, 5)
    with pytest.raises(RuntimeError, match="Failed to run torchinfo") as caught:
        torchinfo.summary(model, input_size=(1, 3), verbose=0)
    with raises_as_documented(PAGE, "TypeError: Bilinear.forward() missing"):
        raise caught.value.__cause__
    x, y = torch.rand(1, 3), torch.rand(1, 4)
    for given in (
        {"input_size": [(1, 3), (1, 4)]},
        {"input_data": [x, y]},
        {"input_data": {"input1": x, "input2": y}},
    ):
        table = torchinfo.summary(model, verbose=0, **given)
        assert table.summary_list[0].output_size == [1, 5]


@pytest.mark.filterwarnings("ignore:Half precision is not supported")
def test_a_model_in_bfloat16():
    model = nn.Linear(3, 4, dtype=torch.bfloat16)
    with pytest.raises(RuntimeError, match="Failed to run torchinfo") as caught:
        torchinfo.summary(model, input_size=(1, 3), verbose=0)
    with raises_as_documented(PAGE, "RuntimeError: mat1 and mat2 must have"):
        raise caught.value.__cause__
    dtypes = [torch.bfloat16]
    table = torchinfo.summary(model, (1, 3), dtypes=dtypes, verbose=0)
    assert table.summary_list[0].output_size == [1, 4]
    assert table.total_params == 16


def test_depth_names_and_columns():
    model = nn.Linear(3, 4)
    for _ in range(4):
        model = nn.Sequential(model)
    assert "Linear" not in str(torchinfo.summary(model, (1, 3), verbose=0))
    columns = ("input_size", "output_size", "num_params", "trainable")
    table = str(
        torchinfo.summary(
            model, (1, 3), verbose=0, depth=10,
            row_settings=("var_names",), col_names=columns,
        )
    )  # fmt: skip
    assert "Linear (0)" in table
    assert "Input Shape" in table


def test_on_the_meta_device():
    with torch.device("meta"):
        model = nn.Linear(100_000, 100_000, bias=False)
    table = torchinfo.summary(model, (1, 100_000), device="meta", verbose=0)
    assert table.total_params == 10**10


def test_modules_have_no_summary():
    with raises_as_documented(PAGE, "AttributeError: 'Sequential' object has no"):
        nn.Sequential().summary()
