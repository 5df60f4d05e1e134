"""show-packing: each cell by a loop over the sequences."""

import pytest

from tests.helpers import cells, load_snippet


@pytest.fixture
def drawn(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # it saves its picture there
    return load_snippet("llm/show_packing.py")


RED, BLUE = 1, 2


def test_a_cell_is_coloured_where_the_query_attends(drawn):
    doc = [0, 0, 0, 0, 1, 1, 1, 2, 2]
    causal, packed = (cells(ax) for ax in drawn.axes)
    for query in range(9):
        for key in range(9):
            own, past = doc[query] == doc[key], key <= query
            assert packed[query, key] == (BLUE if own and past else 0)
            assert causal[query, key] == (0 if not past else BLUE if own else RED)


def test_the_ticks_are_the_sequences(drawn):
    first, second = drawn.axes
    for labels in map(list, (first.get_xticklabels(), first.get_yticklabels())):
        assert [text.get_text() for text in labels] == list("000011122")
    texts = [text.get_text() for text in second.get_xticklabels()]
    assert texts == list("000011122")


def test_the_mask_is_the_recipe_s(drawn):
    recipe = load_snippet("llm/sequence_packing.py")
    doc = recipe.doc
    assert recipe.mask.equal((doc[:, None] == doc).tril())
    assert drawn.mask.equal((drawn.doc[:, None] == drawn.doc).tril())
