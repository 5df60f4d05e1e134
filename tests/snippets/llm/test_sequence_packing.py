"""sequence-packing: a packed row gives what its sequences give alone."""

import inspect

import pytest
import torch
from torch.nn.attention.varlen import varlen_attn
from torch.nn.functional import cross_entropy, pad, scaled_dot_product_attention

from tests.helpers import load_snippet, recipes


@pytest.fixture
def snippet():
    return load_snippet("llm/sequence_packing.py")


def test_hand_worked_row(snippet):
    assert snippet.ids.tolist() == [5, 3, 8, 7, 2, 4]
    assert snippet.doc.tolist() == [0, 0, 0, 1, 1, 2]
    assert snippet.position_ids.tolist() == [0, 1, 2, 0, 1, 0]
    assert snippet.target.tolist() == [3, 8, -100, 2, -100, -100]
    assert snippet.mask.int().tolist() == [
        [1, 0, 0, 0, 0, 0],
        [1, 1, 0, 0, 0, 0],
        [1, 1, 1, 0, 0, 0],
        [0, 0, 0, 1, 0, 0],
        [0, 0, 0, 1, 1, 0],
        [0, 0, 0, 0, 0, 1],
    ]


@pytest.mark.parametrize(
    ("sequences", "ids", "target"),
    [
        ([[5, 3, 8], [7, 2]], [5, 3, 8, 7, 2], [3, 8, -100, 2, -100]),
        ([[5, 3, 8]], [5, 3, 8], [3, 8, -100]),
    ],
)
def test_the_answer_takes_the_lists_of_a_tokenizer(sequences, ids, target):
    names = {"sequences": sequences}
    exec(recipes()["sequence-packing"].answer.text, names)
    assert names["ids"].tolist() == ids
    assert names["target"].tolist() == target


def test_every_sequence_gets_what_it_gets_alone(snippet):
    assert snippet.y.shape == (1, 2, 6, 8)
    for i in range(3):
        part = [x[:, :, snippet.doc == i] for x in (snippet.q, snippet.k, snippet.v)]
        alone = scaled_dot_product_attention(*part, is_causal=True)
        torch.testing.assert_close(snippet.y[:, :, snippet.doc == i], alone)
    causal = scaled_dot_product_attention(
        snippet.q, snippet.k, snippet.v, is_causal=True
    )
    assert not torch.allclose(causal[:, :, snippet.doc == 1], alone[:, :, :1])


def test_the_loss_is_that_of_the_separate_sequences(snippet):
    torch.manual_seed(0)
    logits = torch.randn(6, 10, dtype=torch.float64)
    by_hand = []
    for row, expected in ((0, 3), (1, 8), (3, 2)):
        by_hand.append(-logits[row].log_softmax(0)[expected])
    loss = cross_entropy(logits, snippet.target)
    torch.testing.assert_close(loss, sum(by_hand) / 3)


def test_several_rows_with_padding():
    torch.manual_seed(0)
    doc = torch.tensor([[0, 0, 1, 1, 1], [0, 0, 0, -1, -1]])
    mask = (doc[:, :, None] == doc[:, None]).tril()[:, None]
    assert mask.shape == (2, 1, 5, 5)
    q, k, v = torch.randn(3, 2, 2, 5, 8)
    y = scaled_dot_product_attention(q, k, v, attn_mask=mask)
    assert y.isfinite().all()
    for b, rows in ((0, slice(2)), (0, slice(2, 5)), (1, slice(3))):
        part = [x[b : b + 1, :, rows] for x in (q, k, v)]
        alone = scaled_dot_product_attention(*part, is_causal=True)
        torch.testing.assert_close(y[b : b + 1, :, rows], alone)


def test_hugging_face_needs_no_cache_and_no_mask(snippet):
    transformers = pytest.importorskip("transformers")
    sizes = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 2}
    config = transformers.LlamaConfig(
        vocab_size=32, num_attention_heads=2, initializer_range=0.5, **sizes
    )
    torch.manual_seed(0)
    model = transformers.LlamaForCausalLM(config).eval()
    batch = transformers.DataCollatorWithFlattening()(
        [{"input_ids": s.tolist()} for s in snippet.sequences]
    )
    assert set(batch) == {"input_ids", "labels", "position_ids"}
    assert torch.equal(batch["input_ids"][0], snippet.ids)
    assert torch.equal(batch["position_ids"][0], snippet.position_ids)
    labels = snippet.ids.clone()
    labels[snippet.position_ids == 0] = -100
    assert torch.equal(batch["labels"][0], labels)
    with torch.no_grad():
        alone = torch.cat([model(s[None]).logits[0] for s in snippet.sequences])
        packed = model(**batch, use_cache=False)
        torch.testing.assert_close(packed.logits[0], alone)
        torch.testing.assert_close(packed.loss, cross_entropy(alone, snippet.target))
        ones = torch.ones_like(batch["input_ids"])
        for wrong in ({}, {"use_cache": False, "attention_mask": ones}):
            logits = model(**batch, **wrong).logits[0]
            assert not torch.allclose(logits, alone, atol=1e-3)
    assert transformers.__version__.startswith("5.")


def test_the_arguments_of_the_varlen_kernel(snippet):
    starts = pad(snippet.lengths.cumsum(0), (1, 0)).int()
    assert starts.dtype == torch.int32
    assert starts.tolist() == [0, 3, 5, 6]
    names = list(inspect.signature(varlen_attn).parameters)
    assert names[3:7] == ["cu_seq_q", "cu_seq_k", "max_q", "max_k"]
    assert "window_size" in names
    assert "(-1, 0) for causal attention" in varlen_attn.__doc__


def test_the_size_of_the_mask():
    assert 32_768**2 == 2**30  # a byte each
    assert torch.ones(2, dtype=torch.bool).nbytes == 2
