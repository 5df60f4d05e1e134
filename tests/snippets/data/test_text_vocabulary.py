"""text-vocabulary: scikit-learn, hand-worked ids; torchtext by stand-ins."""

import importlib
import json
import re
import sys
import types
from pathlib import Path

import pytest
import torch
from sklearn.feature_extraction.text import CountVectorizer
from tokenizers import ByteLevelBPETokenizer
from torch import nn

from tests.helpers import load_snippet, raises_as_documented

PAGE = "data/text-vocabulary"
snippet = load_snippet("data/text_vocabulary.py")
SNIPPETS = Path(__file__).parents[3] / "snippets"
SOURCE = (SNIPPETS / "data/text_vocabulary.py").read_text()
BUILD = SOURCE[SOURCE.index("def tokenize") : SOURCE.index("print(")]


def build(train, test):
    """Run the lines of the answer on other texts."""
    scope = {**vars(snippet), "train_texts": train, "texts": test}
    exec(BUILD, scope)
    return scope["vocab"], scope["batch"]


def test_by_hand():
    # the 4; sat, on, cat and the full stop 2; mat and dog once
    assert list(snippet.vocab)[:3] == ["<pad>", "<unk>", "the"]
    assert set(snippet.vocab) == {"<pad>", "<unk>", "the", "cat", "sat", "on", "."}
    assert sorted(snippet.vocab.values()) == list(range(7))
    the, sat, stop = (snippet.vocab[word] for word in ("the", "sat", "."))
    assert snippet.batch.tolist() == [[the, 1, sat, stop], [1, 0, 0, 0]]
    assert snippet.batch.dtype == torch.int64
    assert [snippet.back[i] for i in snippet.batch[0].tolist()] == [
        "the",
        "<unk>",
        "sat",
        ".",
    ]


def test_the_words_are_those_of_scikit_learn():
    texts = ["a b c", "a B d", "c c c", "E"]
    vocab, _ = build(texts, ["a"])
    counter = CountVectorizer(token_pattern=r"\S+")
    totals = counter.fit_transform(texts).sum(axis=0).A1
    names = counter.get_feature_names_out()
    expected = {w for w, n in zip(names, totals, strict=True) if n >= 2}
    assert set(vocab) - {"<pad>", "<unk>"} == expected
    assert list(vocab)[2] == "c"  # the most frequent first


def test_texts_that_hold_the_marks_themselves():
    """As WikiText and Penn Treebank do: each id once, none beyond the table."""
    vocab, batch = build(["a <unk> <pad> <unk> b a b"], ["b a <unk> new"])
    assert vocab == {"<pad>": 0, "<unk>": 1, "a": 2, "b": 3}
    assert batch.tolist() == [[3, 2, 1, 1]]
    nn.Embedding(len(vocab), 4, padding_idx=0)(batch)


def test_punctuation_is_split_off():
    found = snippet.tokenize("The cat's mat, (2nd) mat. A café: naïve!")
    assert " ".join(found) == "the cat ' s mat , ( 2nd ) mat . a café : naïve !"
    vocab, batch = build(["Good, good."], ["A good."])  # the end of both texts
    assert batch.tolist() == [[1, vocab["good"], 1]]


def test_a_clause_in_chinese_is_one_word():
    text = "\u732b\u5750\u7740\uff0c\u72d7\u8dd1"  # cat sits, dog runs
    assert snippet.tokenize(text) == re.split("(\uff0c)", text)


def test_empty_and_unknown_texts():
    _, batch = build(["a a"], ["", "a x"])
    assert batch.tolist() == [[0, 0], [2, 1]]
    assert batch.dtype == torch.int64
    _, batch = build(["a a"], [""])
    assert batch.shape == (1, 0)
    assert batch.dtype == torch.int64


def test_one_vocabulary_for_two_datasets():
    train, other = ["one", "one two"], ["two three"]
    vocab, _ = build([*train, *other], ["one"])
    assert set(vocab) == {"<pad>", "<unk>", "one", "two"}


def test_from_all_texts_nothing_is_unknown():
    texts = ["a b c"] * 2
    _, batch = build([*texts, *["d e"] * 2], ["d e"])
    assert (batch != 1).all()
    _, batch = build(texts, ["d e"])
    assert (batch == 1).all()


def test_a_vocabulary_in_json_and_another_one(tmp_path):
    file = tmp_path / "vocab.json"
    file.write_text(json.dumps(snippet.vocab))
    assert json.loads(file.read_text()) == snippet.vocab
    embedding = nn.Embedding(len(snippet.vocab), 4, padding_idx=0)
    assert embedding(snippet.batch).shape == (2, 4, 4)
    other, ids = build(["x y z v w u t"] * 2, ["t"])
    assert len(other) > len(snippet.vocab)
    with pytest.raises(IndexError, match="index out of range in self"):
        embedding(ids)


def test_subwords_need_no_unknown():
    tokenizer = ByteLevelBPETokenizer()
    tokenizer.train_from_iterator(
        snippet.train_texts, vocab_size=270, show_progress=False
    )
    for text in "the bird", "猫":
        assert tokenizer.decode(tokenizer.encode(text).ids) == text


@pytest.fixture
def torchtext(monkeypatch):
    """A stand-in: a package of that name, with nothing in it."""
    package, data = types.ModuleType("torchtext"), types.ModuleType("torchtext.data")
    package.data = data
    monkeypatch.setitem(sys.modules, "torchtext", package)
    monkeypatch.setitem(sys.modules, "torchtext.data", data)
    return package


def test_messages(torchtext):
    with raises_as_documented(PAGE, "ImportError: cannot import name 'Field'"):
        exec("from torchtext.data import Field")
    with raises_as_documented(PAGE, "AttributeError: module 'torchtext.data'"):
        _ = torchtext.data.Field
    with raises_as_documented(PAGE, "AttributeError: module 'torchtext' has"):
        _ = torchtext.legacy
    with raises_as_documented(PAGE, "ModuleNotFoundError: No module named"):
        importlib.import_module("torchtext.legacy")
