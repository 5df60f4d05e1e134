"""show-broadcast: the differences, by loops over plain numbers."""

import pytest

from tests.helpers import load_snippet, tables


@pytest.fixture
def drawn(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # it saves its picture there
    return load_snippet("tensors/show_broadcast.py")


def test_every_difference_by_hand(drawn):
    y, right, pred, wrong = (tables(ax)[0] for ax in drawn.axes.flat)
    labels = [int(text) for text in y[0][0]]
    predictions = [int(row[0]) for row in pred[0]]
    assert labels == predictions == [1, 2, 3, 4]
    pairs = [str(p - q) for p, q in zip(predictions, labels, strict=True)]
    assert right[0] == [pairs]
    assert wrong[0] == [[str(p - q) for q in labels] for p in predictions]


def test_coloured_are_the_errors_that_are_none(drawn):
    y, right, pred, (texts, colours) = (tables(ax)[0] for ax in drawn.axes.flat)
    for i, row in enumerate(texts):
        for j, text in enumerate(row):
            assert (colours[i][j] == "none") == (text == "0") == (i == j)
    for _, colourless in (y, right, pred):
        assert {colour for row in colourless for colour in row} == {"none"}


def test_the_titles(drawn):
    titles = [ax.get_title() for ax in drawn.axes.flat]
    assert titles == [
        "y: (4,)",
        "pred.squeeze(1) - y",
        "pred: (4, 1)",
        "pred - y: (4, 4)",
    ]
