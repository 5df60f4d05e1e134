"""show-attention: rows that sum to 1; the model does reverse; the weights by hand."""

import numpy as np
import pytest
import torch

from tests.helpers import load_snippet


@pytest.fixture
def drawn(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # it saves its picture there
    return load_snippet("evaluation/show_attention.py")


def maps(drawn):
    return [ax.images[0].get_array().data for ax in drawn.axes]


def test_each_row_holds_weights(drawn):
    for weights in maps(drawn):
        assert weights.shape == (8, 8)
        assert weights.min() >= 0
        np.testing.assert_allclose(weights.sum(1), 1, atol=1e-5)
    assert [ax.get_title() for ax in drawn.axes] == ["step 0", "step 200"]


def test_it_begins_everywhere_and_ends_at_the_mirror_image(drawn):
    first, last = maps(drawn)
    assert first.max() < 0.7
    assert np.fliplr(last).diagonal().min() > 0.8


def test_it_reverses(drawn):
    ids = torch.randint(10, (8, 500))
    h = drawn.token(ids) + drawn.place.weight[:, None]
    answer = drawn.head(drawn.attention(h, h, h)[0]).argmax(-1)
    assert (answer == ids.flip(0)).float().mean() > 0.99


def test_the_weights_are_softmax_of_q_k(drawn):
    h = drawn.h[:, 0].detach()
    q, k, _ = torch.nn.functional.linear(
        h, drawn.attention.in_proj_weight, drawn.attention.in_proj_bias
    ).chunk(3, dim=-1)
    by_hand = (q @ k.T / 32**0.5).softmax(-1)  # one step later
    assert abs(by_hand.detach().numpy() - maps(drawn)[1]).max() < 0.1
