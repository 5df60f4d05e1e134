"""token-classification: spans made by hand, and the F1 of whole entities."""

import runpy

import pytest

from tests.helpers import ROOT, load_snippet

snippet = load_snippet("training/entity_f1.py")
TAGS = [["B-PER", "I-PER", "O", "O", "B-LOC"], ["B-LOC", "I-LOC", "O", "O", "B-LOC"]]


@pytest.mark.parametrize(
    ("tags", "expected"),
    [
        ("O O", set()),
        ("B-PER", {(0, "PER", 0, 1)}),
        ("B-PER I-PER O", {(0, "PER", 0, 2)}),
        ("O B-LOC B-LOC I-LOC", {(0, "LOC", 1, 2), (0, "LOC", 2, 4)}),
        ("B-PER I-LOC I-LOC", {(0, "PER", 0, 1), (0, "LOC", 1, 3)}),
        ("O I-PER O I-PER", {(0, "PER", 1, 2), (0, "PER", 3, 4)}),
    ],
)
def test_spans(tags, expected):
    assert snippet.entities([tags.split()]) == expected


def test_spans_of_several_rows():
    assert snippet.entities([["O"], [], ["B-PER"]]) == {(2, "PER", 0, 1)}
    assert snippet.entities(TAGS) == {
        (0, "PER", 0, 2),
        (0, "LOC", 4, 5),
        (1, "LOC", 0, 2),
        (1, "LOC", 4, 5),
    }


def test_two_of_three_entities(capsys):
    runpy.run_path(str(ROOT / "snippets/training/entity_f1.py"), run_name="__main__")
    assert capsys.readouterr().out == f"F1 {2 / 3:.2f}\n"
