"""err-index-out-of-range: table look-ups and losses in NumPy, every message."""

import math
from contextlib import nullcontext

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F

from tests.helpers import ROOT, load_snippet, raises_as_documented

PAGE = "errors/err-index-out-of-range"
snippet = load_snippet("errors/err_index_out_of_range.py")


def test_an_embedding_is_a_table_of_rows():
    table = snippet.embed.weight.detach().numpy()
    assert table.shape == (11, 4)
    out = snippet.embed(snippet.ids).detach().numpy()
    np.testing.assert_array_equal(out, table[[[0, 4, 10]]])


def test_three_equal_logits_cost_log_3():
    loss = F.cross_entropy(snippet.logits, snippet.y - 1)
    assert math.isclose(loss.item(), math.log(3), rel_tol=1e-6)
    assert snippet.ce.ignore_index == 255
    loss = snippet.ce(torch.zeros(1, 3, 3), snippet.mask)
    assert math.isclose(loss.item(), math.log(3), rel_tol=1e-6)


def test_ignored_labels_do_not_count():
    logits, y = torch.randn(1, 3, 4), torch.tensor([[0, 2, 255, 1]])
    x = logits.double().numpy()[0]  # (C, L)
    log_p = x - np.log(np.exp(x).sum(0))
    expected = -(log_p[0, 0] + log_p[2, 1] + log_p[1, 3]) / 3
    assert math.isclose(snippet.ce(logits, y).item(), expected, rel_tol=1e-4)


def test_the_ranges_tell_and_both_raise(capsys):
    load_snippet("errors/err_index_out_of_range.py")
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "tensor(0) tensor(10) 10"
    assert lines[1] == "tensor([1, 2, 3]) torch.Size([3, 3])"
    with pytest.raises(IndexError, match="index out of range in self"):
        nn.Embedding(10, 4)(snippet.ids)
    with pytest.raises(IndexError, match=r"Target 3 is out of bounds"):
        F.cross_entropy(snippet.logits, snippet.y)


@pytest.mark.parametrize("id", [-1, 10])
def test_an_embedding_raises_what_the_page_quotes(id):
    with raises_as_documented(PAGE, "IndexError: index out of range in self"):
        nn.Embedding(10, 4, padding_idx=0)(torch.tensor([id]))
    with raises_as_documented(PAGE, "IndexError: index out of range in self"):
        torch.randn(10, 4).index_select(0, torch.tensor([id]))


@pytest.mark.parametrize("loss", [F.cross_entropy, F.nll_loss])
def test_a_loss_raises_what_the_page_quotes(loss):
    with raises_as_documented(PAGE, "IndexError: Target 3 is out of bounds."):
        loss(torch.zeros(2, 3), torch.tensor([2, 3]))
    with pytest.raises(IndexError, match="Target -1 is out of bounds"):
        loss(torch.zeros(2, 3), torch.tensor([2, -1]))
    loss(torch.zeros(2, 3), torch.tensor([2, -100]))  # the default ignore_index


@pytest.mark.parametrize(
    ("start", "call"),
    [
        ("AssertionError: Padding_idx", lambda: nn.Embedding(10, 4, padding_idx=10)),
        (
            "RuntimeError: Index 0 of input",
            lambda: nn.EmbeddingBag(10, 4)(torch.tensor([[10]])),
        ),
        (
            "IndexError: select(): index 14",
            lambda: torch.zeros(14, 64, 300).select(0, 14),
        ),
        (
            "RuntimeError: index 4 is out",
            lambda: torch.zeros(3, 4).gather(1, torch.tensor([[4]])),
        ),
        ("IndexError: index 4 is out of bounds for dim", lambda: torch.zeros(4, 3)[4]),
        ("IndexError: index 4 is out of bounds for axis", lambda: np.zeros(4)[4]),
        (
            "RuntimeError: Class values must",
            lambda: F.one_hot(torch.tensor([3]), num_classes=3),
        ),
        ("IndexError: Dimension out of range", lambda: torch.zeros(3).argmax(1)),
    ],
)
def test_its_neighbours_raise_what_the_page_quotes(start, call):
    with raises_as_documented(PAGE, start):
        call()


def test_labels_with_gaps_are_renumbered():
    labels = torch.tensor([40, 3, 17, 3])
    classes, y = labels.unique(return_inverse=True)
    assert classes.tolist() == [3, 17, 40]
    assert y.tolist() == [2, 0, 1, 0]
    assert torch.equal(classes[y], labels)
    assert (torch.tensor([0, 255, 255]) > 0).long().tolist() == [0, 1, 1]


def test_zero_for_no_label():
    mask = torch.tensor([[[0, 1], [3, 2]]], dtype=torch.uint8)  # classes 1 to 3
    logits = torch.randn(1, 3, 2, 2)
    with pytest.raises(IndexError, match="Target 3 is out of bounds"):
        F.cross_entropy(logits, mask.long())
    loss = F.cross_entropy(logits, mask.long() - 1, ignore_index=-1)
    log_p = logits.double().log_softmax(1)[0]
    expected = -(log_p[0, 0, 1] + log_p[2, 1, 0] + log_p[1, 1, 1]) / 3
    assert math.isclose(loss.item(), expected.item(), rel_tol=1e-4)


def test_negative_ids():
    with pytest.raises(IndexError, match="index out of range in self"):
        nn.Embedding(3, 4)(torch.tensor([-100]))
    ids = torch.tensor([-1, 0, 2])
    assert nn.Embedding(3 + 1, 4)(ids + 1).shape == (3, 4)
    ids = torch.tensor([1, -100, 2])
    assert ids.masked_fill(ids < 0, 0).tolist() == [1, 0, 2]


@pytest.mark.parametrize(
    ("labels", "right"), [([0, 2, 255], True), ([0, 3], False), ([-1, 2], False)]
)
def test_labels_are_checked_before_training(labels, right):
    y, C = torch.tensor(labels), 3
    line = "assert ((y >= 0) & (y < C) | (y == 255)).all()"
    for lang in ("en", "zh"):
        assert line in (ROOT / f"docs/{lang}/{PAGE}.md").read_text("utf-8")
    with nullcontext() if right else pytest.raises(AssertionError):
        exec(line, {"y": y, "C": C})


def test_one_output_needs_binary_cross_entropy():
    out, y = torch.zeros(3, 1), torch.tensor([0, 1, 1])
    with pytest.raises(IndexError, match="Target 1 is out of bounds"):
        F.cross_entropy(out, y)
    loss = F.binary_cross_entropy_with_logits(out.squeeze(1), y.float())
    assert math.isclose(loss.item(), math.log(2), rel_tol=1e-6)


def test_a_text_longer_than_the_position_table():
    positions = nn.Embedding(512, 4)
    ids = torch.zeros(1, 600, dtype=torch.long)
    with pytest.raises(IndexError, match="index out of range in self"):
        positions(torch.arange(ids.shape[1]))
    assert positions(torch.arange(ids[:, :512].shape[1])).shape == (512, 4)


def test_the_loss_is_nan_where_all_is_ignored():
    mask = torch.full((1, 3), 255)
    scores = torch.zeros(1, 3, 3)
    assert snippet.ce(scores, mask).isnan()
    total = F.cross_entropy(scores, mask, ignore_index=255, reduction="sum")
    assert total == 0
    assert total / (mask != 255).sum().clamp(min=1) == 0
