"""paddle-to-pytorch: against NumPy here, against Paddle in tests/paddle."""

import numpy as np
import pytest
import torch
from torch import nn

from tests.helpers import load_snippet, raises_as_documented

PAGE = "deployment/paddle-to-pytorch"
load_paddle = load_snippet("deployment/paddle_to_pytorch.py").load_paddle
RNG = np.random.default_rng(0)


def normal(*shape: int) -> np.ndarray:
    return RNG.normal(size=shape).astype(np.float32)


def loaded(module: nn.Module, **arrays: np.ndarray) -> dict[str, list]:
    load_paddle(module, arrays)
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


def test_a_module_that_is_the_whole_model():
    W = np.float32([[1, 2, 3], [4, 5, 6]])
    linear = loaded(nn.Linear(2, 3), weight=W, bias=np.zeros(3))
    assert linear["weight"] == [[1, 4], [2, 5], [3, 6]]
    assert loaded(nn.Embedding(2, 3), weight=W) == {"weight": W.tolist()}


def test_prelu_and_other_weights_keep_their_shape():
    assert loaded(nn.PReLU(2), _weight=np.float32([0.5, 0.25])) == {
        "weight": [0.5, 0.25]
    }
    for module in (
        nn.Conv2d(2, 3, 2, bias=False),
        nn.ConvTranspose2d(2, 3, 2, bias=False),
        nn.LayerNorm(3, bias=False),
        nn.LSTM(3, 3, bias=False),
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


def test_other_parameters_of_a_module_with_linear_weight_name():
    class Scaled(nn.Linear):
        def __init__(self):
            super().__init__(2, 2, bias=False)
            self.mix = nn.Parameter(torch.zeros(2, 2))

    mix = np.float32([[1, 2], [3, 4]])
    assert loaded(Scaled(), weight=mix, mix=mix) == {
        "weight": [[1, 3], [2, 4]],
        "mix": [[1, 2], [3, 4]],
    }


def test_bfloat16_bits():
    values = np.float32([[1.5, -2.0, 3.140625]])  # bfloat16 holds each exactly
    bits = (values.view(np.uint32) >> 16).astype(np.uint16)
    assert loaded(nn.Linear(1, 3, bias=False), weight=bits)["weight"] == [
        [1.5], [-2.0], [3.140625],
    ]  # fmt: skip
    model = nn.Linear(1, 3, bias=False, dtype=torch.bfloat16)
    assert loaded(model, weight=bits)["weight"] == [[1.5], [-2.0], [3.140625]]


def test_what_bfloat16_bits_look_like_as_numbers():
    assert loaded(nn.PReLU(1), _weight=np.uint16([16256])) == {"weight": [1]}
    assert torch.tensor(np.uint16([16256])).tolist() == [16256]


def test_the_model_owns_a_copy_of_its_own_type():
    array = np.ones((2, 2))  # float64
    model = nn.Linear(2, 2, bias=False)
    before = model.weight
    load_paddle(model, {"weight": array})
    array[:] = 5
    assert model.weight is before
    assert model.weight.requires_grad
    assert model.weight.dtype == torch.float32
    assert model.weight.tolist() == [[1, 1], [1, 1]]


def test_read_only_and_non_contiguous_arrays():
    array = np.float32([[1, 2], [3, 4]]).T
    array.flags.writeable = False
    assert loaded(nn.Embedding(2, 2), weight=array) == {"weight": [[1, 3], [2, 4]]}


def test_names_that_do_not_match():
    with raises_as_documented(PAGE):
        load_paddle(nn.BatchNorm2d(3), {"weight": np.ones(3), "bias": np.ones(3)})
    for arrays in ({}, {"weight": np.ones((2, 2)), "fc.weight": np.ones((2, 2))}):
        with pytest.raises(RuntimeError, match=r"Error\(s\) in loading state_dict"):
            load_paddle(nn.Linear(2, 2, bias=False), arrays)


def test_the_names_paddle_gives_are_refused_as_they_are():
    arrays = {"weight": 1, "bias": 2, "_mean": 3, "_variance": 4}
    state = {name: torch.full((3,), float(value)) for name, value in arrays.items()}
    with raises_as_documented(PAGE):
        nn.BatchNorm2d(3).load_state_dict(state)


def test_a_weight_left_untransposed_is_refused_unless_square():
    state = {"weight": torch.zeros(3, 5), "bias": torch.zeros(5)}
    with raises_as_documented(PAGE):
        nn.Linear(3, 5).load_state_dict(state)
    nn.Linear(3, 3).load_state_dict({"weight": torch.eye(3), "bias": torch.zeros(3)})


def test_copy_broadcasts_without_a_word():
    weight = torch.zeros(2, 3)
    weight.copy_(torch.tensor([1.0, 2.0, 3.0]))
    assert weight.tolist() == [[1, 2, 3], [1, 2, 3]]


def test_the_keys_alone_have_lost_the_values():
    arrays = {"fc.weight": np.ones(1)}
    with raises_as_documented(PAGE):
        list(arrays.keys())["fc.weight"]
