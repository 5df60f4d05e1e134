"""move_nested_batch: the structure against torch's own tree functions."""

from collections import namedtuple

import pytest
import torch
from torch import nn
from torch.nn.utils.rnn import PackedSequence, pack_sequence
from torch.utils._pytree import tree_flatten

from tests.helpers import load_snippet, run_on

SNIPPET = "setup/move_nested_batch.py"
to_device = load_snippet(SNIPPET).to_device
Pair = namedtuple("Pair", "first second")

NESTED = [
    torch.ones(2),
    [],
    {},
    (torch.ones(2),),
    {7: torch.ones(2), "b": [torch.ones(3), (torch.ones(1), torch.ones(4))]},
    (torch.ones(2), [{"boxes": torch.ones(5, 4), "file": "1.jpg", "n": 3}, None]),
    Pair(torch.ones(2), {"x": torch.ones(1)}),
]


@pytest.mark.parametrize("batch", NESTED, ids=str)
def test_every_tensor_moves_and_the_structure_stays(batch):
    moved = to_device(batch, "meta")
    before, structure = tree_flatten(batch)
    after, same = tree_flatten(moved)
    assert same == structure
    for old, new in zip(before, after, strict=True):
        if isinstance(old, torch.Tensor):
            assert new.is_meta
            assert not old.is_meta  # the batch itself is untouched
            assert new.shape == old.shape
        else:
            assert new is old


def test_the_values_are_the_same():
    batch = {"x": torch.arange(3.0), "y": [torch.tensor(7)]}
    moved = to_device(batch, "cpu")
    torch.testing.assert_close(moved, batch, rtol=0, atol=0)


def test_what_has_a_method_to_moves_by_it():
    packed = to_device([pack_sequence([torch.ones(2)])], "meta")[0]
    assert isinstance(packed, PackedSequence)
    assert packed.data.is_meta
    module = nn.Linear(1, 1)
    assert to_device((module,), "meta")[0] is module
    assert module.weight.is_meta


@pytest.mark.parametrize(("there", "device"), [("meta", "meta"), (None, "cpu")])
def test_the_demonstration_takes_the_device_that_is_there(
    monkeypatch, capsys, there, device
):
    run_on(there, SNIPPET, monkeypatch)
    assert capsys.readouterr().out == f"tuple on {device}\n"
