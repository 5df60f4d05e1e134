"""init-from-tensor: values against lists, identity against the naive ways."""

import numpy as np
import pytest
import torch
from torch import nn

from tests.helpers import load_snippet, raises_as_documented

set_values = load_snippet("models/init_from_tensor.py").set_values
PAGE = "models/init-from-tensor"
VALUES = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]


@pytest.mark.parametrize(
    "values",
    [
        torch.tensor(VALUES),
        torch.tensor(VALUES, dtype=torch.float64),
        torch.tensor(VALUES, dtype=torch.bfloat16),
        torch.tensor(VALUES).int(),
        torch.tensor(VALUES, requires_grad=True),
        torch.tensor(VALUES).T.contiguous().T,  # not contiguous
        torch.from_numpy(np.array(VALUES)),
    ],
    ids=str,
)
def test_the_values_arrive_and_the_parameter_stays_what_it_was(values):
    layer = nn.Linear(3, 2)
    weight, pointer = layer.weight, layer.weight.data_ptr()
    assert set_values(layer.weight, values) is None
    assert layer.weight is weight
    assert weight.data_ptr() == pointer
    assert weight.tolist() == VALUES
    assert weight.dtype == torch.float32
    assert weight.requires_grad
    assert weight.is_leaf


def test_the_values_are_copied_not_kept():
    layer, values = nn.Linear(3, 2), torch.tensor(VALUES)
    set_values(layer.weight, values)
    values.zero_()
    assert layer.weight.tolist() == VALUES


def test_dtype_and_frozen_state_are_kept():
    layer = nn.Linear(3, 2).bfloat16().requires_grad_(False)
    set_values(layer.weight, torch.tensor(VALUES))
    assert layer.weight.dtype == torch.bfloat16
    assert not layer.weight.requires_grad


@pytest.mark.parametrize("shape", [(3, 2), (1, 3), (3,), (), (2, 1), (2, 3, 1)])
def test_another_shape_is_refused_also_where_copy_would_broadcast(shape):
    layer = nn.Linear(3, 2)
    before = layer.weight.tolist()
    with pytest.raises(ValueError, match="values of shape") as caught:
        set_values(layer.weight, torch.zeros(shape))
    assert str(caught.value) == f"values of shape {shape} for a parameter (2, 3)"
    assert layer.weight.tolist() == before


def test_empty_and_scalar_parameters():
    set_values(nn.Parameter(torch.empty(0, 3)), torch.empty(0, 3))
    scalar = nn.Parameter(torch.tensor(1.0))
    set_values(scalar, torch.tensor(2.5))
    assert scalar.item() == 2.5


def step_moves(layer, optimizer):
    before = layer.weight.detach().clone()
    optimizer.zero_grad()
    layer(torch.ones(1, 3)).sum().backward()
    optimizer.step()
    return not torch.equal(layer.weight, before)


def test_an_optimizer_made_before_trains_it_but_not_a_new_parameter():
    layer = nn.Linear(3, 2)
    optimizer = torch.optim.SGD([layer.weight], lr=0.1)
    set_values(layer.weight, torch.tensor(VALUES))
    assert step_moves(layer, optimizer)
    layer.weight = nn.Parameter(torch.tensor(VALUES))
    assert not step_moves(layer, optimizer)


def test_tied_weights_stay_tied_but_not_with_a_new_parameter():
    encoder, decoder = nn.Embedding(2, 3), nn.Linear(3, 2, bias=False)
    decoder.weight = encoder.weight
    set_values(encoder.weight, torch.tensor(VALUES))
    assert decoder.weight is encoder.weight
    assert decoder.weight.tolist() == VALUES
    encoder.weight = nn.Parameter(torch.zeros(2, 3))
    assert decoder.weight.tolist() == VALUES


def test_plain_copy_broadcasts_silently():
    layer = nn.Linear(3, 2)
    with torch.no_grad():
        layer.weight.copy_(torch.tensor([1.0, 2.0, 3.0]))
    assert layer.weight.tolist() == [[1, 2, 3], [1, 2, 3]]


def test_data_accepts_any_shape_and_the_layer_does_not_notice():
    layer = nn.Linear(3, 2)
    layer.weight.data = torch.ones(5, 3)
    assert layer.out_features == 2
    assert layer.weight.shape == (5, 3)
    frozen = torch.tensor(VALUES)
    layer.weight.data = frozen
    frozen.zero_()  # it is shared, too
    assert not layer.weight.any()


def test_a_parametrized_weight_takes_assignment_and_ignores_a_copy():
    layer = nn.utils.parametrizations.weight_norm(nn.Linear(3, 2))
    before = layer.weight.tolist()
    set_values(layer.weight, torch.tensor(VALUES))
    assert layer.weight.tolist() == before
    layer.weight = torch.tensor(VALUES)
    torch.testing.assert_close(layer.weight.detach(), torch.tensor(VALUES))


def test_the_variants():
    layer = nn.Linear(3, 2)
    weight = layer.weight
    layer.load_state_dict({"weight": torch.tensor(VALUES), "bias": torch.ones(2)})
    assert layer.weight is weight
    assert weight.tolist() == VALUES
    with pytest.raises(RuntimeError, match="size mismatch for weight"):
        layer.load_state_dict({"weight": torch.ones(1, 3), "bias": torch.ones(2)})
    vectors = torch.tensor(VALUES)
    assert not nn.Embedding.from_pretrained(vectors).weight.requires_grad
    assert nn.Embedding.from_pretrained(vectors, freeze=False).weight.requires_grad
    conv = nn.Conv2d(3, 3, 3, padding=1, bias=False)
    nn.init.dirac_(conv.weight)
    x = torch.randn(1, 3, 4, 4)
    torch.testing.assert_close(conv(x), x)


def test_the_documented_errors():
    layer = nn.Linear(3, 2)
    with raises_as_documented(PAGE):
        layer.weight.copy_(torch.tensor(VALUES))
    with raises_as_documented(PAGE):
        layer.weight = torch.tensor(VALUES)
    with raises_as_documented(PAGE), torch.no_grad():
        set_values(layer.weight, torch.tensor(VALUES).T)
