"""fill-rows: by hand, and every sequence in one row."""

import pytest
import torch

from tests.helpers import load_snippet

fill_rows = load_snippet("llm/fill_rows.py").fill_rows


def test_rows_by_hand():
    # 6 opens a row, 5 another; 4 goes to the first, 3 and 2 to the second
    assert fill_rows([2, 3, 4, 5, 6], 10) == [[4, 2], [3, 1, 0]]
    assert fill_rows([], 10) == []
    assert fill_rows([10, 10], 10) == [[0], [1]]
    with pytest.raises(ValueError, match="sequence 1: 11 > 10 tokens"):
        fill_rows([3, 11], 10)


def test_every_sequence_is_in_one_row_that_has_room():
    torch.manual_seed(0)
    lengths = torch.randint(1, 65, (200,)).tolist()
    rows = fill_rows(lengths, 64)
    assert sorted(i for row in rows for i in row) == list(range(200))
    assert all(sum(lengths[i] for i in row) <= 64 for row in rows)
    assert len(rows) <= 11 / 9 * (-(-sum(lengths) // 64)) + 8  # far from one each
