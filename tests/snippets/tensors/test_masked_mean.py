"""masked-mean: against each text alone in NumPy, empty texts, bad input."""

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F
from transformers import BertConfig, BertModel

from tests.chains.pasted import answer
from tests.helpers import load_snippet, raises_as_documented

PAGE = "tensors/masked-mean"
snippet = load_snippet("tensors/masked_mean.py")
x, mask, m = snippet.x, snippet.mask, snippet.m


def test_the_mask():
    assert snippet.lengths.tolist() == [4, 2, 0]
    assert mask.tolist() == [[True] * 4, [True, True, False, False], [False] * 4]
    assert m.shape == (3, 4, 1)


def test_each_text_alone():
    for n, length in enumerate([4, 2]):
        text = x[n, :length].double().numpy()
        np.testing.assert_allclose(snippet.mean[n], text.mean(0), rtol=1e-5)
        np.testing.assert_array_equal(snippet.largest[n], text.max(0).astype("f"))
        e = np.exp(snippet.scores[n, :length].double().numpy())
        np.testing.assert_allclose(snippet.weights[n, :length], e / e.sum(), rtol=1e-5)
        assert not snippet.weights[n, length:].any()


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
def test_the_answer_in_other_dtypes_and_for_one_text(dtype):
    x = torch.tensor([[[1.0], [3.0], [torch.nan]]], dtype=dtype)
    names = {"x": x, "lengths": torch.tensor([2], dtype=torch.int32)}
    exec(answer("masked-mean"), names)
    assert names["mean"].tolist() == [[2]]
    assert names["mean"].dtype == dtype


def test_a_long_text_of_large_values_in_float16():
    names = {"x": torch.full((1, 2048, 1), 60).half(), "lengths": torch.tensor([2048])}
    exec(answer("masked-mean"), names)
    assert names["x"].sum(1).isinf().all()
    assert names["mean"].item() == pytest.approx(60, rel=1e-2)


def test_the_answer_on_another_device():
    """The lengths may stay on the CPU, where a DataLoader left them."""
    names = {"x": torch.empty(2, 3, 4, device="meta"), "lengths": torch.tensor([3, 1])}
    exec(answer("masked-mean"), names)
    assert names["mean"].device.type == "meta"
    assert names["mean"].shape == (2, 4)


def test_an_empty_text():
    assert snippet.mean[2].tolist() == [0, 0]
    assert snippet.largest[2].isneginf().all()
    filled = snippet.largest.masked_fill(snippet.lengths[:, None] == 0, 0)
    assert filled[2].tolist() == [0, 0]
    assert torch.equal(filled[:2], snippet.largest[:2])
    assert snippet.weights[2].tolist() == [0] * 4
    assert (x * m).sum(1).div(m.sum(1))[2].isnan().all()
    assert snippet.scores.masked_fill(~mask, -torch.inf).softmax(1)[2].isnan().all()


def test_gradients_are_finite_and_none_at_the_padding():
    scores = snippet.scores.clone().requires_grad_()
    weights = scores.masked_fill(~mask, -torch.inf).softmax(1).nan_to_num(0)
    (weights * torch.arange(4.0)).sum().backward()
    assert scores.grad.isfinite().all()
    assert not scores.grad[~mask].any()
    assert scores.grad[:2, :2].abs().min() > 0


def test_nan_in_the_padding():
    bad = x.masked_fill(~m, torch.nan)
    assert torch.equal(bad.masked_fill(~m, 0).sum(1), x.masked_fill(~m, 0).sum(1))
    assert (bad * m).sum(1)[1].isnan().all()


def test_the_plain_mean_depends_on_the_padding():
    zeros = x.masked_fill(~m, 0)
    assert not torch.allclose(zeros.mean(1)[1], snippet.mean[1])


def test_zeros_of_the_padding_as_a_maximum():
    negative = -x.abs() - 1
    assert (negative * m).amax(1)[1].tolist() == [0, 0]
    assert negative.masked_fill(~m, -torch.inf).amax(1)[1].max() < 0


def test_messages():
    with raises_as_documented(PAGE, "RuntimeError: The size of tensor a"):
        torch.zeros(2, 4, 3) * torch.ones(2, 4)
    with raises_as_documented(PAGE, "RuntimeError: value cannot be"):
        x.half().masked_fill(~m, -1e9)
    assert x.half().masked_fill(~m, -torch.inf).amax(1)[1].isfinite().all()


def test_sentence_embeddings_do_not_depend_on_the_batch():
    torch.manual_seed(0)
    sizes = {"hidden_size": 16, "intermediate_size": 16, "vocab_size": 20}
    config = BertConfig(num_hidden_layers=1, num_attention_heads=2, **sizes)
    model = BertModel(config).eval()
    ids = torch.tensor([[4, 7, 9, 2], [5, 6, 0, 0]])
    batch = {"input_ids": ids, "attention_mask": (ids != 0).long()}
    with torch.no_grad():
        states = model(**batch).last_hidden_state
        alone = model(input_ids=ids[1:, :2]).last_hidden_state[0].mean(0)
    keep = batch["attention_mask"].bool()[..., None]
    mean = states.masked_fill(~keep, 0).sum(1) / keep.sum(1).clamp(min=1)
    torch.testing.assert_close(mean[1], alone, atol=1e-4, rtol=1e-4)
    mean = F.normalize(mean, dim=1)
    cosine = F.cosine_similarity(mean[0], alone, dim=0)
    assert (mean @ mean.T)[0, 1].item() == pytest.approx(cosine.item(), abs=1e-4)


def test_the_last_token_on_either_side():
    lengths, steps = torch.tensor([4, 2, 1]), torch.arange(4)
    last = x[torch.arange(3), lengths - 1]
    assert torch.equal(last, torch.stack([x[0, 3], x[1, 1], x[2, 0]]))
    left = torch.stack([row.roll(4 - n, 0) for row, n in zip(x, lengths, strict=True)])
    assert torch.equal(left[:, -1], last)
    assert (steps >= 4 - lengths[:, None]).sum(1).tolist() == [4, 2, 1]


def test_variants():
    torch.manual_seed(0)
    scores = nn.Linear(2, 1)(x).squeeze(-1)
    weights = scores.masked_fill(~mask, -torch.inf).softmax(1).nan_to_num(0)
    pooled = (weights[..., None] * x).sum(1)
    torch.testing.assert_close(pooled[1], scores[1, :2].softmax(0) @ x[1, :2])
    logits, target = torch.randn(3, 4, 5), torch.ones(3, 4).long()
    loss = F.cross_entropy(logits.transpose(1, 2), target, reduction="none")
    expected = F.cross_entropy(
        logits.flatten(0, 1), target.masked_fill(~mask, -100).flatten()
    )
    torch.testing.assert_close((loss * mask).sum() / mask.sum(), expected)
