"""show-masks: a hidden key, when it changes, changes nothing for the query."""

import pytest
import torch
from torch import nn

from tests.helpers import ROOT, cells, load_snippet


@pytest.fixture
def drawn(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # it saves its picture there
    return load_snippet("models/show_masks.py")


def crosses(ax):
    """Each (query, key) with a ×; only these cells are empty."""
    (marks,) = ax.lines
    assert marks.get_marker() == "x"
    found = {(query, key) for key, query in marks.get_xydata().tolist()}
    empty = (cells(ax) == 0).nonzero()
    assert found == set(zip(*(axis.tolist() for axis in empty), strict=True))
    assert tuple(ax.images[0].get_extent()) == (-0.5, 4.5, 4.5, -0.5)
    return found


def unseen(**masks):
    """Each (query, key) where another key, and another value, change nothing."""
    torch.manual_seed(0)
    attention = nn.MultiheadAttention(8, 2, batch_first=True).eval()
    x = torch.randn(1, 5, 8)
    before, _ = attention(x, x, x, **masks)
    found = set()
    for key in range(5):
        changed = x.clone()
        changed[0, key] += 1
        after, _ = attention(x, changed, changed, **masks)
        same = (after - before).abs().amax(-1)[0] < 1e-5
        found |= {(query, key) for query in range(5) if same[query]}
    return found


def test_the_crosses_are_what_attention_ignores(drawn):
    future = {"attn_mask": drawn.future}
    padding = {"key_padding_mask": drawn.padding}
    for ax, masks in zip(drawn.axes, (future, padding, future | padding), strict=True):
        assert crosses(ax) == unseen(**masks)
    assert not unseen()
    titles = [ax.get_title() for ax in drawn.axes]
    assert titles == ["future", "padding", "both"]


def test_the_cells_counted_by_hand(drawn):
    assert [len(crosses(ax)) for ax in drawn.axes] == [10, 10, 13]
    assert {key for _, key in crosses(drawn.axes[1])} == {3, 4}
    assert all(key > query for query, key in crosses(drawn.axes[0]))


def test_the_words_are_beside_their_rows_and_columns(drawn):
    labels = [text.get_text() for text in drawn.axes[0].get_yticklabels()]
    assert labels == ["the", "cat", "sat", "<pad>", "<pad>"]
    assert [label == "<pad>" for label in labels] == drawn.padding[0].tolist()
    assert drawn.axes[0].get_ylabel() == "query"
    for ax in drawn.axes:
        assert ax.get_xlabel() == "key"
        assert [text.get_text() for text in ax.get_xticklabels()] == labels
        assert ax.get_xticks().tolist() == list(range(5))
        assert ax.get_ylim() == (4.5, -0.5)  # the first query on top


def test_its_masks_are_those_of_the_recipe():
    recipe, picture = (
        (ROOT / "snippets/models" / name).read_text("utf-8").splitlines()
        for name in ("transformer_encoder_mask.py", "show_masks.py")
    )
    starts = ("N, T = ", "padding = ", "future = ")
    (sizes, padding, future) = (
        next(line.partition(":")[0] for line in recipe if line.startswith(start))
        for start in starts
    )
    sizes, padding = (line.replace("tokens", "text") for line in (sizes, padding))
    assert sizes.partition("  #")[0] in picture
    future = future.replace(", device=x.device", "")
    assert any(line.startswith(future) for line in picture)
    assert any(padding.startswith(line) for line in picture if line[:7] == "padding")
