"""index-slice: as nested lists have it; what is shared and what is copied."""

import numpy as np
import pytest
import torch

from tests.helpers import load_snippet, raises_as_documented, recipes

PAGE = "tensors/index-slice"
ANSWER = recipes()["index-slice"].answer


@pytest.mark.parametrize("shape", [(4, 5), (3, 4), (1, 7), (5, 4, 2)])
def test_the_answer_as_nested_lists_have_it(shape):
    x = torch.randn(shape)
    names, rows = {"x": x}, x.tolist()
    exec(ANSWER.text, names)
    assert names["row"].tolist() == rows[0]
    assert x[-1].tolist() == rows[-1]
    assert names["column"].tolist() == [row[1] for row in rows]
    assert names["part"].tolist() == [row[:2] for row in rows[1:3]]
    assert names["columns"].tolist() == [[row[0], row[3]] for row in rows]
    assert names["kept"].tolist() == [row[1:2] for row in rows]
    assert names["every_other"].tolist() == rows[::2]
    assert x.flip(0).tolist() == rows[::-1]


def test_the_last_step_and_a_feature_of_sequences():
    found = load_snippet("tensors/index_slice.py")
    nested = found.sequences.tolist()
    assert found.last.tolist() == [steps[-1] for steps in nested]
    assert found.feature.tolist() == [[step[0] for step in steps] for steps in nested]


def test_ranges_share_memory_and_lists_copy():
    found = load_snippet("tensors/index_slice.py")
    assert found.part[0].tolist() == [-1, 6]
    assert found.columns[1].tolist() == [5, 8]
    base = found.x.untyped_storage().data_ptr()
    for part in (
        found.row,
        found.column,
        found.part,
        found.kept,
        found.every_other,
    ):
        assert part.untyped_storage().data_ptr() == base
    assert found.columns.untyped_storage().data_ptr() != base


def test_an_assignment_to_a_copy_is_lost():
    x, rows = torch.zeros(3), [0, 2]
    x[rows][0] = 5
    assert x.eq(0).all()
    x[rows[0]] = 5
    x[x > 0] += 1
    assert x.tolist() == [6, 0, 0]
    mask = torch.tensor([False, True, True])
    x[mask.nonzero()[:, 0][0]] = 7
    assert x.tolist() == [6, 7, 0]
    x[mask[0]] = 9
    assert x.tolist() == [6, 7, 0]


def test_two_lists_are_paired():
    x = torch.arange(16).reshape(4, 4)
    assert x[[0, 1], [2, 3]].tolist() == [2, 7]
    assert x[[0, 1]][:, [2, 3]].tolist() == [[2, 3], [6, 7]]
    expected = x.numpy().copy()
    expected[np.ix_([0, 1], [2, 3])] = 5
    x[[0, 1]][:, [2, 3]] = 6  # a copy: lost
    x[[[0], [1]], [2, 3]] = 5
    np.testing.assert_array_equal(x, expected)


def test_the_messages():
    x = torch.ones(3, 2)
    with raises_as_documented(PAGE, "ValueError: step must be"):
        x[::-1]
    with raises_as_documented(PAGE, "IndexError: too many indices"):
        x[0, 0, 0]
    with raises_as_documented(PAGE, "IndexError: invalid index of a 0-dim"):
        torch.tensor(1.0)[0]
    with raises_as_documented(PAGE, "IndexError: index 5 is out of bounds"):
        x[5]
    with raises_as_documented(PAGE, "IndexError: tensors used as indices"):
        x[torch.tensor([0.0])]
