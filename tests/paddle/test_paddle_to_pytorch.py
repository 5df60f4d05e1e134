"""paddle-to-pytorch: against what Paddle itself saved and computed (make paddle)."""

import pickle
import warnings
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from tests.helpers import load_snippet, raises_as_documented

FOLDER = Path(__file__).parent / "saved"  # by save_with_paddle.py
load_paddle = load_snippet("deployment/paddle_to_pytorch.py").load_paddle


class Net(nn.Module):
    """The network of save_with_paddle.py."""

    def __init__(self, momentum: float = 0.2, eps: float = 1e-3):
        super().__init__()
        self.embed = nn.Embedding(6, 6)
        self.conv = nn.Conv2d(1, 5, 3)
        self.norm = nn.BatchNorm2d(5, momentum=momentum, eps=eps)
        self.act = nn.PReLU(5)
        self.hidden = nn.Linear(5, 5)
        self.head = nn.Linear(5, 3)

    def forward(self, words):  # (N, T)
        x = self.embed(words).unsqueeze(1)  # (N, 1, T, D)
        x = self.act(self.norm(self.conv(x))).mean(dim=(2, 3))
        return self.head(self.hidden(x))


def read(path: Path) -> dict[str, np.ndarray]:
    with np.load(path) as arrays:
        return dict(arrays)


def converted(**options) -> tuple[Net, torch.Tensor, torch.Tensor]:
    """Return the network with Paddle's weights, an input, Paddle's output."""
    model, io = Net(**options), read(FOLDER / "io.npz")
    arrays = read(FOLDER / "net.npz")
    assert "act._weight" in arrays  # PReLU's, which the page says to rename
    load_paddle(model, {k.replace("._weight", ".weight"): arrays[k] for k in arrays})
    return model, torch.from_numpy(io["words"]), torch.from_numpy(io["output"])


def close(a: torch.Tensor, b: torch.Tensor) -> bool:
    return torch.allclose(a, b, rtol=1e-4, atol=1e-6)


def test_outputs_are_equal():
    model, words, expected = converted()
    assert expected.std(dim=0).min() > 0.02  # they depend on the input
    assert close(model.eval()(words), expected)


@pytest.mark.parametrize("name", ["embed", "hidden"])
def test_a_square_weight_the_wrong_way_round_is_noticed(name):
    model, words, expected = converted()
    weight = model.get_submodule(name).weight.data
    weight.copy_(weight.T.clone())
    assert not close(model.eval()(words), expected)


def test_epsilon_must_be_the_same():
    model, words, expected = converted(eps=1e-5)
    assert not close(model.eval()(words), expected)


def test_one_step_of_training_moves_the_statistics_alike():
    """The mean equally; of the variance, torch takes n / (n - 1) as much."""
    model, words, _ = converted()
    before = model.norm.running_var.clone()
    model.train()(words)
    io = read(FOLDER / "io.npz")
    assert close(model.norm.running_mean, torch.from_numpy(io["next_mean"]))
    n = 8 * 5 * 4  # N, and the height and width after the convolution
    biased = (model.norm.running_var - 0.8 * before) * (n - 1) / n
    expected = torch.from_numpy(io["next_variance"])
    assert close(0.8 * before + biased, expected)
    assert not close(model.norm.running_var, expected)


def test_the_file_without_paddle():
    """The page: a pickled dictionary of arrays, and a table of names."""
    with (FOLDER / "net.pdparams").open("rb") as file:
        arrays = pickle.load(file)
    table = arrays.pop("StructuredToParameterName@@")
    expected = read(FOLDER / "net.npz")
    assert arrays.keys() == expected.keys() == table.keys()
    for name in expected:
        np.testing.assert_array_equal(arrays[name], expected[name])
    messages = {
        True: "UnpicklingError: Weights only load failed.",
        False: "RuntimeError: Invalid magic number; corrupt file?",
    }
    for weights_only, message in messages.items():
        with (
            warnings.catch_warnings(action="ignore", category=UserWarning),
            raises_as_documented("deployment/paddle-to-pytorch", message),
        ):
            torch.load(FOLDER / "net.pdparams", weights_only=weights_only)


def test_bfloat16_is_saved_as_float32():
    io, model = read(FOLDER / "io.npz"), nn.Sequential(nn.Linear(3, 2))
    assert io["half_bits"].dtype == np.uint16  # what .numpy() alone gives
    load_paddle(model, read(FOLDER / "half.npz"))
    expected = io["half_weight"].T
    np.testing.assert_array_equal(model[0].weight.detach().numpy(), expected)


def test_lstm_and_gru_once_their_second_copy_is_left_out():
    arrays, io = read(FOLDER / "recurrent.npz"), read(FOLDER / "io.npz")
    model = nn.ModuleDict({
        "lstm": nn.LSTM(4, 3, 2, bidirectional=True, batch_first=True),
        "gru": nn.GRU(6, 3, batch_first=True),
    })  # fmt: skip
    with pytest.raises(RuntimeError, match=r"Unexpected key.*cell_fw"):
        load_paddle(model, arrays)
    load_paddle(model, {k: v for k, v in arrays.items() if ".cell" not in k})
    hidden, _ = model["lstm"](torch.from_numpy(io["sequence"]))
    states, _ = model["gru"](hidden)
    assert close(states, torch.from_numpy(io["states"]))


def test_attention_once_its_three_projections_are_joined():
    arrays, io = read(FOLDER / "attention.npz"), read(FOLDER / "io.npz")
    parts = [
        (arrays.pop(f"{k}_proj.weight"), arrays.pop(f"{k}_proj.bias")) for k in "qkv"
    ]
    arrays["in_proj_weight"] = np.concatenate([weight.T for weight, _ in parts])
    arrays["in_proj_bias"] = np.concatenate([bias for _, bias in parts])
    model = nn.MultiheadAttention(4, 2, batch_first=True)
    load_paddle(model, arrays)
    x = torch.from_numpy(io["sequence"])
    assert close(model(x, x, x)[0], torch.from_numpy(io["attended"]))
