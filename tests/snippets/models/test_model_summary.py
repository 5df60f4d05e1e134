"""model-summary: every row by hand and against torchinfo; what has no row."""

import pytest
import torch
import torchinfo
from torch import nn
from torch.nn import functional as F

from tests.helpers import load_snippet, raises_as_documented

PAGE = "models/model-summary"
snippet = load_snippet("models/model_summary.py")


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


def test_a_sequence_by_hand(capsys):
    body = nn.Sequential(nn.Conv2d(3, 2, 3, stride=2), nn.ReLU())
    model = nn.Sequential(body, nn.Flatten(), nn.Linear(18, 1000))
    snippet.summarize(model, torch.rand(5, 3, 7, 7))
    assert capsys.readouterr().out.splitlines() == [
        "     Sequential (5, 1000)       19,056",
        "0    Sequential (5, 2, 3, 3)        56",
        "0.0  Conv2d     (5, 2, 3, 3)        56",
        "0.1  ReLU       (5, 2, 3, 3)         0",
        "1    Flatten    (5, 18)              0",
        "2    Linear     (5, 1000)       19,000",
    ]


def test_tuples_and_layers_that_are_not_called(capsys):
    snippet.summarize(Net(), torch.rand(2, 5, 3))
    lines = capsys.readouterr().out.splitlines()
    found = [line.split(maxsplit=1) for line in lines[1:]]
    lstm = 4 * 4 * (3 + 4 + 2)
    attention = 4 * 4 * (4 + 1)
    assert [(name, " ".join(rest.split())) for name, rest in found] == [
        ("rnn", f"LSTM (2, 5, 4) {lstm}"),
        ("norm", "BatchNorm1d (2, 5, 4) 10"),
        ("attention", f"MultiheadAttention (2, 5, 4) {attention}"),
        ("attention.out_proj", "NonDynamicallyQuantizableLinear - 20"),
        ("unused", "Linear - 28"),
    ]
    assert lines[0].split()[-1] == str(lstm + 10 + attention + 28)


def test_no_hook_no_graph_and_the_mode_are_left():
    model = Net().eval()
    before = {key: value.clone() for key, value in model.state_dict().items()}
    kept = []
    model.register_forward_hook(lambda *args: kept.append(args[2]))
    snippet.summarize(model, torch.rand(2, 5, 3))
    assert not kept[0].requires_grad
    assert sum(len(layer._forward_hooks) for layer in model.modules()) == 1
    assert not any(layer.training for layer in model.modules())
    torch.testing.assert_close(model.state_dict(), before)


def test_hooks_go_when_the_model_fails():
    model = nn.Sequential(nn.Linear(3, 4), nn.Linear(5, 6))
    with pytest.raises(RuntimeError, match="shapes cannot be multiplied"):
        snippet.summarize(model, torch.rand(1, 3))
    assert not any(layer._forward_hooks for layer in model.modules())


def test_train_mode_changes_the_statistics_and_torchinfo_does_not():
    x = torch.rand(2, 5, 3)
    model = Net()
    mean = model.norm.running_mean.clone()
    torchinfo.summary(model, input_data=x, verbose=0)
    assert torch.equal(model.norm.running_mean, mean)
    assert model.training
    snippet.summarize(model, x)
    assert not torch.equal(model.norm.running_mean, mean)


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
