"""show-causal: a key that is drawn as hidden changes nothing, each other one does."""

import pytest
import torch
from torch.nn.attention.bias import causal_lower_right
from torch.nn.functional import scaled_dot_product_attention

from tests.helpers import crosses, load_snippet


@pytest.fixture
def drawn(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # it saves its picture there
    return load_snippet("llm/show_causal.py")


def unseen(**mask):
    """Each (query, key) where another key, and another value, change nothing."""
    torch.manual_seed(0)
    q, k, v = torch.randn(1, 2, 8), torch.randn(1, 6, 8), torch.randn(1, 6, 8)
    before = scaled_dot_product_attention(q, k, v, **mask)
    found = set()
    for key in range(6):
        other = torch.zeros(1, 6, 8)
        other[0, key] = 1
        after = scaled_dot_product_attention(q, k + other, v + other, **mask)
        same = ((after - before).abs().amax(-1)[0] < 1e-5).tolist()
        found |= {(4 + i, key) for i in range(2) if same[i]}
    return found


def test_the_crosses_are_what_attention_ignores(drawn):
    left, right = drawn.axes
    assert crosses(left) == unseen(is_causal=True)
    assert crosses(right) == unseen(attn_mask=drawn.past)
    assert (left.get_title(), right.get_title()) == ("is_causal=True", "attn_mask=past")


def test_by_hand_and_as_in_a_pass_over_the_whole_text(drawn):
    left, right = drawn.axes
    assert crosses(left) == {(4, key) for key in range(1, 6)} | {
        (5, key) for key in range(2, 6)
    }
    assert crosses(right) == {(4, 5)}
    q, k, v = torch.randn(3, 1, 6, 8)
    whole = scaled_dot_product_attention(q, k, v, is_causal=True)[:, 4:]
    with_mask = scaled_dot_product_attention(q[:, 4:], k, v, attn_mask=drawn.past)
    torch.testing.assert_close(with_mask, whole)
    built_in = scaled_dot_product_attention(
        q[:, 4:], k, v, attn_mask=causal_lower_right(2, 6)
    )
    torch.testing.assert_close(built_in, whole)


def test_the_axes_count_from_the_top_left(drawn):
    assert drawn.axes[0].get_ylabel() == "query"
    for ax in drawn.axes:
        assert ax.get_xlabel() == "key"
        assert ax.get_xticks().tolist() == list(range(6))
        assert ax.get_yticks().tolist() == [4, 5]
        assert ax.get_ylim() == (5.5, 3.5)
