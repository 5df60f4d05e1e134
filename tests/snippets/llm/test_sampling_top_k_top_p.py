"""sampling-top-k-top-p: against the warpers of transformers, and by frequency."""

import pytest
import torch
from transformers import (
    GenerationConfig,
    MinPLogitsWarper,
    TopKLogitsWarper,
    TopPLogitsWarper,
)

from tests.helpers import ROOT, load_snippet, raises_as_documented

PAGE = "llm/sampling-top-k-top-p"
sample = load_snippet("llm/sampling_top_k_top_p.py").sample


def drawn_from(monkeypatch, logits: torch.Tensor, **options) -> torch.Tensor:
    """The probabilities that `sample` draws from."""
    seen = []
    with monkeypatch.context() as patch:
        patch.setattr(
            torch, "multinomial", lambda p, num_samples: seen.append(p) or p[:, :1]
        )
        sample(logits, **options)
    return seen[0]


@pytest.mark.parametrize("k", [1, 3, 50])
def test_top_k_is_that_of_transformers(monkeypatch, k):
    logits = torch.randn(4, 50)
    expected = TopKLogitsWarper(k)(None, logits).softmax(-1)
    found = drawn_from(monkeypatch, logits, top_k=k)
    torch.testing.assert_close(found, expected)


@pytest.mark.parametrize("p", [0.05, 0.5, 0.93])
def test_top_p_is_that_of_transformers(monkeypatch, p):
    logits = torch.randn(4, 50) * 3
    expected = TopPLogitsWarper(p)(None, logits).softmax(-1)
    found = drawn_from(monkeypatch, logits, top_p=p)
    torch.testing.assert_close(found, expected)


def test_all_together_by_hand(monkeypatch):
    logits = torch.tensor([[0.5, 0.3, 0.15, 0.05]]).log()
    found = drawn_from(monkeypatch, logits, temperature=0.5, top_k=3, top_p=0.9)
    # Squares .25 .09 .0225; their sum is .3625, and .25 + .09 reach .9 of it.
    torch.testing.assert_close(found, torch.tensor([[0.25, 0.09, 0, 0]]) / 0.34)


def test_frequencies():
    torch.manual_seed(0)
    logits = torch.tensor([[0.6, 0.3, 0.1]]).log().expand(20_000, 3)
    share = sample(logits).flatten().bincount(minlength=3) / 20_000
    torch.testing.assert_close(share, torch.tensor([0.6, 0.3, 0.1]), atol=0.02, rtol=0)


def test_one_sure_token_is_kept():
    logits = torch.tensor([[9.0, 0.0, 0.0]])
    assert sample(logits, top_p=0.5).tolist() == [[0]]
    assert sample(logits, top_k=10).shape == (1, 1)


def test_the_logits_of_the_caller_stay():
    logits = torch.randn(2, 9)
    before = logits.clone()
    sample(logits, top_k=2, top_p=0.5)
    assert torch.equal(logits, before)


def test_all_positions_at_once():
    for options in ({}, {"temperature": 0.8, "top_k": 2, "top_p": 0.9}):
        with raises_as_documented(PAGE, "RuntimeError: prob_dist must be"):
            sample(torch.zeros(2, 3, 4), **options)


def test_the_logits_of_one_text():
    logits = torch.tensor([0.0, 9.0, 8.0, 1.0])
    assert sample(logits, top_k=1).tolist() == [1]
    torch.manual_seed(0)
    drawn = {sample(logits, top_k=3, top_p=0.9).item() for _ in range(50)}
    assert drawn == {1, 2}


def test_temperature_zero_is_greedy():
    logits = torch.randn(5, 9)
    assert torch.equal(sample(logits, temperature=0), logits.argmax(1, keepdim=True))
    assert torch.equal(sample(logits, 0.0, 3, 0.5), logits.argmax(1, keepdim=True))


def test_top_p_of_zero_and_top_k_of_zero(monkeypatch):
    """As servers send them: greedy, and no limit."""
    logits = torch.randn(5, 9)
    assert torch.equal(sample(logits, top_p=0.0), logits.argmax(1, keepdim=True))
    found = drawn_from(monkeypatch, logits, top_k=0, top_p=1.0)
    torch.testing.assert_close(found, logits.softmax(-1))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_is_drawn_in_float32(monkeypatch, dtype):
    logits = (torch.randn(3, 2000) * 3).to(dtype)
    expected = TopPLogitsWarper(0.9)(None, logits.float() / 0.01).softmax(-1)
    found = drawn_from(monkeypatch, logits, temperature=0.01, top_p=0.9)
    assert found.dtype == torch.float32
    torch.testing.assert_close(found, expected)


def test_generate_knows_the_settings_against_repetition():
    known = GenerationConfig().to_dict()
    for name in ("repetition_penalty", "no_repeat_ngram_size"):
        assert name in known
        assert f"`{name}=" in (ROOT / f"docs/en/{PAGE}.md").read_text()


def test_nan():
    with raises_as_documented(PAGE, "RuntimeError: probability tensor contains"):
        sample(torch.tensor([[1.0, torch.nan]]))


def test_min_p_is_that_of_transformers():
    logits = torch.randn(4, 50) * 3
    p = logits.softmax(-1)
    found = logits.masked_fill(p < 0.1 * p.amax(-1, keepdim=True), -torch.inf)
    torch.testing.assert_close(found, MinPLogitsWarper(0.1)(None, logits))
