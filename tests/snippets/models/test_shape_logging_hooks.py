"""shape-logging-hooks: shapes by hand, the layer that fails, and each pitfall."""

import runpy

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.modules import module
from torch.nn.modules.module import register_module_forward_hook
from torch.nn.utils.rnn import pack_padded_sequence

from tests.helpers import ROOT, load_snippet, raises_as_documented

PAGE = "models/shape-logging-hooks"
SNIPPET = "models/shape_logging_hooks.py"
print_shapes = load_snippet(SNIPPET).print_shapes


def lines(capsys, model: nn.Module, x: torch.Tensor) -> list[str]:
    print_shapes(model, x)
    return [line.strip() for line in capsys.readouterr().out.splitlines()]


def no_hooks_left() -> bool:
    names = ("_global_forward_hooks", "_global_forward_hooks_always_called")
    return not any(getattr(module, name) for name in names)


def test_the_demonstration(capsys):
    runpy.run_path(str(ROOT / "snippets" / SNIPPET), run_name="__main__")
    a, b, c, d = (8, 1, 28, 28), (8, 6, 24, 24), (8, 6, 12, 12), (8, 864)
    assert capsys.readouterr().out.splitlines() == [
        f"0 Conv2d ({a},) -> {b}",
        f"1 MaxPool2d ({b},) -> {c}",
        f"2 Flatten ({c},) -> {d}",
        f"3 Linear ({d},) -> None",
        f" Sequential ({a},) -> None",
        "the first None: this layer fails",
    ]
    assert no_hooks_left()


def test_tuples_of_tuples(capsys):
    lstm = nn.LSTM(8, 4, num_layers=2, batch_first=True)
    assert lines(capsys, lstm, torch.randn(3, 5, 8)) == [
        "LSTM ((3, 5, 8),) -> ((3, 5, 4), ((2, 3, 4), (2, 3, 4)))"
    ]
    gru = nn.Sequential(nn.GRU(8, 4))
    assert lines(capsys, gru, torch.randn(5, 3, 8))[0] == (
        "0 GRU ((5, 3, 8),) -> ((5, 3, 4), (1, 3, 4))"
    )


def test_a_packed_sequence_goes_through(capsys):
    """5 and 3 steps are 8 rows of data."""
    packed = pack_padded_sequence(torch.ones(2, 5, 4), [5, 3], batch_first=True)
    assert lines(capsys, nn.LSTM(4, 3, batch_first=True), packed) == [
        "LSTM ((8, 4),) -> ((8, 3), ((1, 2, 3), (1, 2, 3)))"
    ]


def test_what_has_no_shape_is_printed_itself(capsys):
    class Pair(nn.Module):
        def forward(self, x):
            return x, 3, None

    assert lines(capsys, Pair(), torch.ones(2)) == ["Pair ((2,),) -> ((2,), 3, None)"]


def test_nested_names_and_the_failing_layer(capsys):
    model = nn.ModuleDict({"body": nn.Sequential(nn.Linear(3, 4), nn.Linear(5, 2))})
    model.forward = lambda x: model["body"](x)
    with pytest.raises(RuntimeError):
        print_shapes(model, torch.randn(2, 3))
    printed = capsys.readouterr().out.splitlines()
    assert [line.split(" (")[0] for line in printed] == [
        "body.0 Linear",
        "body.1 Linear",
        "body Sequential",
        " ModuleDict",
    ]
    assert [line.endswith("None") for line in printed] == [False, True, True, True]
    assert no_hooks_left()


def test_a_layer_outside_the_model_is_printed(capsys):
    layers = [nn.Linear(3, 4)]  # not registered

    class Net(nn.Module):
        def forward(self, x):
            return layers[0](x)

    assert lines(capsys, Net(), torch.ones(2, 3))[0] == "None ((2, 3),) -> (2, 4)"


def test_an_ordinary_hook_does_not_see_the_failing_layer():
    seen = []
    model = nn.Sequential(nn.Linear(3, 4), nn.Linear(5, 2))
    with (
        register_module_forward_hook(lambda m, a, o: seen.append(m)),
        pytest.raises(RuntimeError),
    ):
        model(torch.randn(2, 3))
    assert seen == [model[0]]


def test_a_tuple_into_a_linear_layer(capsys):
    model = nn.Sequential(nn.LSTM(8, 4), nn.Linear(4, 2))
    with raises_as_documented(PAGE, "TypeError: linear(): argument"):
        print_shapes(model, torch.randn(5, 3, 8))
    assert capsys.readouterr().out.splitlines()[1].startswith("1 Linear (((5, 3, 4), (")


def test_functions_have_no_line(capsys):
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(3, 4)

        def forward(self, x):
            return F.relu(self.fc.forward(x)).flatten(1)

    assert len(lines(capsys, Net(), torch.ones(2, 3))) == 1


def test_the_fast_path_hides_the_layers(capsys):
    layer = nn.TransformerEncoderLayer(8, 2, batch_first=True).eval()
    x = torch.randn(1, 3, 8)
    whole = lines(capsys, layer, x)
    assert any(line.startswith("linear1 Linear") for line in whole)
    assert "MultiheadAttention" in whole[0]
    with torch.no_grad():
        assert len(lines(capsys, layer, x)) == 1


def test_a_compiled_model_raises_an_error():
    model = nn.Sequential(nn.Linear(3, 4))
    compiled = torch.compile(model, backend="eager")
    with (
        pytest.warns(UserWarning, match="when there are global hooks"),
        pytest.raises(AssertionError),
    ):
        print_shapes(compiled, torch.ones(2, 3))
    assert no_hooks_left()


def test_a_model_compiled_earlier_has_one_line(capsys):
    compiled = torch.compile(nn.Sequential(nn.Linear(3, 4)), backend="eager")
    compiled(torch.ones(2, 3))
    with pytest.warns(UserWarning, match="when there are global hooks"):
        printed = lines(capsys, compiled, torch.ones(2, 3))
    assert printed == ["OptimizedModule ((2, 3),) -> (2, 4)"]


class Detector(nn.Module):
    """Takes keywords, and gives a list of dictionaries."""

    def __init__(self):
        super().__init__()
        self.scale = nn.Linear(4, 2)

    def forward(self, images, *, boxes, limit=3):
        out = self.scale(images)
        return [{"boxes": boxes, "scores": out.mean(1), "limit": limit}]


def test_keywords_dictionaries_and_lists(capsys):
    print_shapes(Detector(), torch.ones(5, 4), boxes=torch.ones(1, 4))
    assert capsys.readouterr().out.splitlines() == [
        "scale Linear ((5, 4),) -> (5, 2)",
        " Detector ((5, 4),) -> [{'boxes': (1, 4), 'scores': (5,), 'limit': 3}]",
    ]
    assert no_hooks_left()
