"""embedding-layer: what a GloVe file holds, and files of other widths."""

from pathlib import Path

import pytest
import torch

from tests.helpers import ROOT, load_snippet, raises_as_documented

PAGE = "models/embedding-layer"
SOURCE = (ROOT / "snippets/models/embedding_glove.py").read_text("utf-8")
START = "embedding = nn.Embedding("


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # the demonstration writes a file


FILE = (
    "the .1 .2\n. . . .3 .4\nat name@domain.com .9 .9\n. .5 .6\n<unk> .7 .8\nÉ .1 .1\n"
)


def pasted(folder, vocab, C=2, file=FILE):
    """The layer that the file makes of this file and vocabulary."""
    (folder / "glove.txt").write_text(file, encoding="utf-8")
    names = {"torch": torch, "nn": torch.nn, "Path": Path}
    names |= {"vocab": vocab, "path": "glove.txt", "C": C}
    exec(START + SOURCE.partition(START)[2], names)
    return names["embedding"]


def test_it_reads_words_with_spaces_and_marks(tmp_path):
    words = ["<pad>", "<unk>", "the", ".", "É", "none", ". . ."]
    embedding = pasted(tmp_path, {word: i for i, word in enumerate(words)})
    rows = embedding.weight.detach()
    expected = [[0, 0], [0.7, 0.8], [0.1, 0.2], [0.5, 0.6], [0.1, 0.1]]
    torch.testing.assert_close(rows[:5], torch.tensor(expected))
    assert 0 < rows[5].abs().max() < 1, "a word without a vector is random, and small"
    torch.testing.assert_close(rows[6], torch.tensor([0.3, 0.4]))
    assert embedding.weight.requires_grad


def test_another_number_of_columns(tmp_path):
    line = " ".join(["the", *["0.1"] * 100])
    with raises_as_documented(PAGE, "RuntimeError: The expanded size"):
        pasted(tmp_path, {"<pad>": 0, "the": 1}, C=300, file=line)
    with raises_as_documented(PAGE, "AssertionError: no word of vocab with 50"):
        pasted(tmp_path, {"<pad>": 0, "the": 1}, C=50, file=line)
    pasted(tmp_path, {"<pad>": 0, "the": 1}, C=100, file=line)


def test_a_word_with_spaces_and_a_plain_split():
    line = next(line for line in FILE.split("\n") if line.startswith(". . ."))
    with raises_as_documented(PAGE, "ValueError: could not convert string"):
        [float(n) for n in line.split()[1:]]


def test_the_demonstration():
    snippet = load_snippet("models/embedding_glove.py")
    rows = snippet.embedding.weight.detach()
    torch.testing.assert_close(
        rows[2:4], torch.tensor([[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]])
    )
    assert not rows[0].any()
    assert 0 < rows[[1, 4]].abs().min() < rows[[1, 4]].abs().max() < 1
    assert snippet.found == 2
