"""init-from-tensor: values against lists, identity against the naive ways."""

import numpy as np
import pytest
import torch
from torch import nn

from tests.helpers import ROOT, load_snippet, raises_as_documented, recipes

PAGE = "models/init-from-tensor"
FILE = "models/init_from_tensor.py"
VALUES = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]


def answered(layer, values):
    names = {"layer": layer, "values": values}
    exec(recipes()["init-from-tensor"].answer.text, names)
    return layer.weight


def copied(layer, values):
    with torch.no_grad():
        layer.weight.copy_(values)
    return layer.weight


def test_the_weight_has_the_values_and_the_old_optimizer_trains_it():
    snippet = load_snippet(FILE)
    weight = snippet.layer.weight
    assert weight is snippet.optimizer.param_groups[0]["params"][0]
    assert snippet.values.tolist() == VALUES
    assert weight.tolist() == (np.array(VALUES) - 1).tolist()  # one step of lr 1
    assert weight.requires_grad
    assert weight.is_leaf


def test_before_the_step_it_has_the_values_themselves(monkeypatch):
    monkeypatch.setattr(torch.optim.SGD, "step", lambda self: None)
    snippet = load_snippet(FILE)
    assert snippet.layer.weight.tolist() == VALUES
    assert snippet.layer.weight.data_ptr() != snippet.values.data_ptr()


@pytest.mark.parametrize("shape", [(3, 2), (1, 3), (3,), (), (2, 1), (2, 3, 1)])
def test_another_shape_is_refused_also_where_copy_would_broadcast(shape):
    source = (ROOT / "snippets" / FILE).read_text(encoding="utf-8")
    given = "torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])"
    assert given in source
    with pytest.raises((AssertionError, RuntimeError)):
        exec(source.replace(given, f"torch.zeros({shape})"), {})


@pytest.mark.parametrize(
    "values",
    [
        torch.tensor(VALUES, dtype=torch.float64),
        torch.tensor(VALUES, dtype=torch.bfloat16),
        torch.tensor(VALUES, requires_grad=True),
        torch.tensor(VALUES).T.contiguous().T,  # not contiguous
        torch.from_numpy(np.array(VALUES)),
    ],
    ids=str,
)
def test_any_dtype_arrives_and_the_parameter_stays_what_it_was(values):
    layer = nn.Linear(3, 2)
    weight, pointer = layer.weight, layer.weight.data_ptr()
    assert answered(layer, values) is weight
    assert weight.data_ptr() == pointer
    assert weight.tolist() == VALUES
    assert weight.dtype == torch.float32
    assert weight.is_leaf


def step_moves(layer, optimizer):
    before = layer.weight.detach().clone()
    optimizer.zero_grad()
    layer(torch.ones(1, 3)).sum().backward()
    optimizer.step()
    return not torch.equal(layer.weight, before)


def test_a_new_parameter_is_not_trained():
    layer = nn.Linear(3, 2)
    optimizer = torch.optim.SGD([layer.weight], lr=0.1)
    assert step_moves(layer, optimizer)
    layer.weight = nn.Parameter(torch.tensor(VALUES))
    assert not step_moves(layer, optimizer)
    replaced_before = torch.optim.SGD([layer.weight], lr=0.1)
    assert step_moves(layer, replaced_before)


def test_tied_weights_stay_tied_but_not_with_a_new_parameter():
    encoder, decoder = nn.Embedding(2, 3), nn.Linear(3, 2, bias=False)
    decoder.weight = encoder.weight
    copied(encoder, torch.tensor(VALUES))
    assert decoder.weight is encoder.weight
    assert decoder.weight.tolist() == VALUES
    encoder.weight = nn.Parameter(torch.zeros(2, 3))
    assert decoder.weight.tolist() == VALUES


def test_plain_copy_broadcasts_silently():
    assert (
        copied(nn.Linear(3, 2), torch.tensor([1.0, 2, 3])).tolist() == [[1, 2, 3]] * 2
    )
    assert copied(nn.Linear(3, 2), torch.tensor(7.0)).tolist() == [[7] * 3] * 2


def test_data_accepts_any_shape_and_shares_memory():
    layer = nn.Linear(3, 2)
    layer.weight.data = torch.ones(5, 3)
    assert layer.out_features == 2
    assert layer.weight.shape == (5, 3)
    values = torch.tensor(VALUES)
    layer.weight.data = values
    values.zero_()
    assert not layer.weight.any()


def test_a_parametrized_weight_takes_assignment_and_ignores_a_copy():
    layer = nn.utils.parametrizations.weight_norm(nn.Linear(3, 2))
    before = layer.weight.tolist()
    assert copied(layer, torch.tensor(VALUES)).tolist() == before
    with pytest.raises(AssertionError):
        answered(layer, torch.tensor(VALUES))
    layer.weight = torch.tensor(VALUES)
    torch.testing.assert_close(layer.weight.detach(), torch.tensor(VALUES))


def test_the_other_variants():
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
    layer.requires_grad_(False)
    assert not layer.weight.requires_grad


@pytest.mark.parametrize(
    ("start", "wrong"),
    {
        "RuntimeError: a leaf Variable": lambda layer, x: layer.weight.copy_(x),
        "TypeError: cannot assign": lambda layer, x: setattr(layer, "weight", x),
        "RuntimeError: The size of tensor": lambda layer, x: copied(layer, x.T),
        "TypeError: copy_(): argument": lambda layer, x: copied(layer, x.numpy()),
    }.items(),
)
def test_the_documented_errors(start, wrong):
    with raises_as_documented(PAGE, start):
        wrong(nn.Linear(3, 2), torch.tensor(VALUES))
    transposed = torch.tensor(VALUES).T.contiguous()  # as Keras keeps it
    assert copied(nn.Linear(3, 2), transposed.T).tolist() == VALUES
