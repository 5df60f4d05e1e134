"""paddle-to-pytorch: against NumPy here, against Paddle in tests/paddle."""

import pickle
import runpy

import numpy as np
import pytest
import torch
from torch import nn

from tests.helpers import ROOT, load_snippet, raises_as_documented

PAGE = "deployment/paddle-to-pytorch"
load_paddle = load_snippet("deployment/paddle_to_pytorch.py").load_paddle
RNG = np.random.default_rng(0)


def normal(*shape: int) -> np.ndarray:
    return RNG.normal(size=shape).astype(np.float32)


def loaded(module: nn.Module, **arrays: np.ndarray) -> dict[str, list]:
    """The state of a module that is a part of a model, loaded from its arrays."""
    model = nn.ModuleDict({"part": module})
    load_paddle(model, {f"part.{name}": array for name, array in arrays.items()})
    return {name: tensor.tolist() for name, tensor in module.state_dict().items()}


@pytest.mark.parametrize("square", [True, False])
def test_linear_is_transposed_and_embedding_is_not(square):
    D, H = (4, 4) if square else (4, 6)
    table, W, b = normal(H, D), normal(D, H), normal(H)
    model = nn.ModuleDict({"table": nn.Embedding(H, D), "fc": nn.Linear(D, H)})
    arrays = {"table.weight": table, "fc.weight": W, "fc.bias": b}
    load_paddle(model, arrays)
    words = [3, 0, 3]
    output = model["fc"](model["table"](torch.tensor(words)))
    expected = table[words].astype(np.float64) @ W + b
    np.testing.assert_allclose(output.detach().numpy(), expected, rtol=1e-5, atol=1e-6)
    assert list(arrays) == ["table.weight", "fc.weight", "fc.bias"]
    assert arrays["fc.weight"] is W


def test_batch_norm_by_hand():
    arrays = {
        "weight": np.float32([2]), "bias": np.float32([1]),
        "_mean": np.float32([3]), "_variance": np.float32([4]),
    }  # fmt: skip
    norm = nn.BatchNorm2d(1, eps=12).eval()
    assert loaded(norm, **arrays) == {
        "weight": [2], "bias": [1], "running_mean": [3], "running_var": [4],
        "num_batches_tracked": 0,
    }  # fmt: skip
    assert norm(torch.full((1, 1, 1, 1), 11.0)).item() == 2 * (11 - 3) / 4 + 1


def test_other_weights_keep_their_shape():
    for module in (
        nn.Conv2d(2, 3, 2, bias=False),
        nn.ConvTranspose2d(2, 3, 2, bias=False),
        nn.LayerNorm(3, bias=False),
        nn.LSTM(3, 3, bias=False),
        nn.Embedding(3, 3),
    ):
        arrays = {name: normal(*w.shape) for name, w in module.named_parameters()}
        state = loaded(module, **arrays)
        assert state == {name: array.tolist() for name, array in arrays.items()}


def test_subclasses_of_linear_and_modules_used_twice():
    class Head(nn.Linear):
        pass

    head, W = Head(2, 2, bias=False), np.float32([[1, 2], [3, 4]])
    model = nn.ModuleDict({"first": head, "again": head})
    load_paddle(model, {"first.weight": W, "again.weight": W})
    assert head.weight.tolist() == [[1, 3], [2, 4]]


def test_other_parameters_of_a_linear_layer():
    class Scaled(nn.Linear):
        def __init__(self):
            super().__init__(2, 2, bias=False)
            self.mix = nn.Parameter(torch.zeros(2, 2))

    mix = np.float32([[1, 2], [3, 4]])
    assert loaded(Scaled(), weight=mix, mix=mix) == {
        "weight": [[1, 3], [2, 4]],
        "mix": [[1, 2], [3, 4]],
    }


def test_the_model_keeps_its_parameters_and_their_type():
    array = np.float64([[1, 2], [3, 4]]).T
    array.flags.writeable = False
    embedding = nn.Embedding(2, 2)
    before = embedding.weight
    assert loaded(embedding, weight=array) == {"weight": [[1, 3], [2, 4]]}
    assert embedding.weight is before
    assert before.requires_grad
    assert before.dtype == torch.float32


def test_whole_numbers_that_the_page_saves_as_float32():
    module = nn.Module()
    module.register_buffer("positions", torch.zeros(3, dtype=torch.int64))
    assert loaded(module, positions=np.float32([0, 1, 511]))["positions"] == [0, 1, 511]
    assert module.positions.dtype == torch.int64


def test_what_is_missing_or_left_over_is_refused():
    W, b = normal(2, 2), normal(2)
    with pytest.raises(RuntimeError, match=r'Missing key.*"part.bias"'):
        loaded(nn.Linear(2, 2), weight=W)
    with pytest.raises(RuntimeError, match=r'Unexpected key.*"part.extra"'):
        loaded(nn.Linear(2, 2), weight=W, bias=b, extra=b)
    with pytest.raises(RuntimeError, match="size mismatch"):
        loaded(nn.Linear(2, 3), weight=normal(3, 2), bias=normal(3))
    with raises_as_documented(PAGE, "KeyError: 'fc.weight'"):
        load_paddle(nn.ModuleDict({"fc": nn.Linear(2, 2)}), {"linear.weight": W})


def test_the_names_paddle_gives_are_refused_as_they_are():
    arrays = {"weight": 1, "bias": 2, "_mean": 3, "_variance": 4}
    state = {name: torch.full((3,), float(value)) for name, value in arrays.items()}
    with raises_as_documented(
        PAGE, "RuntimeError: Error(s) in loading state_dict for BatchNorm2d:"
    ):
        nn.BatchNorm2d(3).load_state_dict(state)


def test_a_weight_left_untransposed_is_refused_unless_square():
    state = {"weight": torch.zeros(3, 5), "bias": torch.zeros(5)}
    with raises_as_documented(
        PAGE, "RuntimeError: Error(s) in loading state_dict for Linear:"
    ):
        nn.Linear(3, 5).load_state_dict(state)
    nn.Linear(3, 3).load_state_dict({"weight": torch.eye(3), "bias": torch.zeros(3)})


def test_the_bits_of_bfloat16_are_refused():
    assert torch.tensor([1.0], dtype=torch.bfloat16).view(torch.uint16).item() == 16256
    with raises_as_documented(PAGE, "TypeError: bits of bfloat16"):
        loaded(nn.LayerNorm(1, bias=False), weight=np.uint16([16256]))


def test_the_keys_alone_have_lost_the_values():
    arrays = {"fc.weight": np.ones(1)}
    with raises_as_documented(PAGE, "TypeError: list indices must"):
        list(arrays.keys())["fc.weight"]


def test_a_pickled_dictionary_is_no_file_of_torch_save(tmp_path):
    """Of an old protocol; tests/paddle has Paddle's own file."""
    path = tmp_path / "model.pdparams"
    path.write_bytes(pickle.dumps({"fc.weight": np.ones(1)}, protocol=2))
    messages = {
        True: "UnpicklingError: Weights only load failed.",
        False: "RuntimeError: Invalid magic number; corrupt file?",
    }
    for weights_only, message in messages.items():
        with raises_as_documented(PAGE, message):
            torch.load(path, weights_only=weights_only)


def test_renamed_prelu():
    arrays = {"part._weight": np.float32([0.5, 0.25])}
    model = nn.ModuleDict({"part": nn.PReLU(2)})
    renamed = {k.replace("._weight", ".weight"): a for k, a in arrays.items()}
    load_paddle(model, renamed)
    assert model["part"].weight.tolist() == [0.5, 0.25]


def test_the_demonstration():
    path = ROOT / "snippets/deployment/paddle_to_pytorch.py"
    model = runpy.run_path(str(path), run_name="__main__")["model"]
    W = np.random.default_rng(0).random((7, 4))[3:]
    np.testing.assert_array_equal(model[0].weight.detach().numpy(), W.T)
