"""show-where: the tables, against NumPy."""

import numpy as np
import pytest

from tests.helpers import load_snippet, tables


@pytest.fixture
def drawn(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # it saves its picture there
    return load_snippet("tensors/show_where.py")


def test_the_numbers_are_those_of_numpy(drawn):
    x, kept, values = (np.array(tables(ax)[0][0], dtype=int) for ax in drawn.axes)
    mask = np.logical_and(x > 0, x < 6)
    np.testing.assert_array_equal(kept, np.where(mask, x, 0))
    np.testing.assert_array_equal(values, np.extract(mask, x)[None])


def test_coloured_is_what_the_mask_keeps(drawn):
    (x, of_x), (_, of_kept), (_, of_values) = (tables(ax)[0] for ax in drawn.axes)
    assert of_x == of_kept
    for texts, colours in zip(x, of_x, strict=True):
        for text, colour in zip(texts, colours, strict=True):
            assert (colour != "none") == (0 < int(text) < 6)
    assert "none" not in of_values[0]


def test_the_titles(drawn):
    titles = [ax.get_title() for ax in drawn.axes]
    assert titles == ["x", "torch.where(mask, x, 0)", "x[mask]"]
