"""next-token-dataset: by hand, a float64 loop, Llama in transformers."""

import math

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader
from transformers import LlamaConfig, LlamaForCausalLM

from tests.helpers import load_snippet, raises_as_documented, recipes

snippet = load_snippet("llm/next_token_dataset.py")
PAGE = "llm/next-token-dataset"


def test_blocks_by_hand():
    data = snippet.next_token_dataset(torch.arange(10), T=4)
    x, y = data.tensors
    assert x.tolist() == [[0, 1, 2, 3], [4, 5, 6, 7]]
    assert y.tolist() == [[1, 2, 3, 4], [5, 6, 7, 8]]
    assert len(data) == 2


@pytest.mark.parametrize(("N", "n"), [(5, 1), (8, 1), (9, 2), (12, 2), (13, 3)])
def test_every_token_is_a_target_once(N, n):
    data = snippet.next_token_dataset(torch.arange(N), T=4)
    assert len(data) == n == (N - 1) // 4
    targets = [t for _, y in data for t in y.tolist()]
    assert targets == list(range(1, 4 * n + 1))


def test_too_short():
    with raises_as_documented(PAGE, "RuntimeError: maximum size for tensor"):
        snippet.next_token_dataset(torch.arange(5), T=16)


def test_overlapping_blocks_are_a_view():
    """The variant: any offset."""
    ids = torch.arange(9)
    blocks = ids.unfold(0, 4 + 1, 1)
    assert blocks.shape == (5, 5)
    assert blocks[3].tolist() == [3, 4, 5, 6, 7]
    assert blocks.data_ptr() == ids.data_ptr()


class Model(nn.Module):
    """A bigram table, with dropout that must be off."""

    def __init__(self, V):
        super().__init__()
        self.table = nn.Embedding(V, V)
        self.dropout = nn.Dropout(0.5)

    def forward(self, x):
        return self.dropout(self.table(x))


def test_perplexity_in_float64():
    torch.manual_seed(0)
    model = Model(7)
    x, y = torch.randint(7, (5, 3)), torch.randint(7, (5, 3))
    y[1, 1:] = -100
    y[4] = -100
    table, losses = model.table.weight.detach().double(), []
    for row, targets in zip(x.tolist(), y.tolist(), strict=True):
        for token, target in zip(row, targets, strict=True):
            if target != -100:
                z = table[token]
                losses.append(float(z.exp().sum().log() - z[target]))
    expected = math.exp(sum(losses) / len(losses))
    data = torch.utils.data.TensorDataset(x, y)
    for size in (1, 2, 5):  # the batches are not equal
        got = snippet.perplexity(model, DataLoader(data, batch_size=size))
        assert got == pytest.approx(expected, rel=1e-5)
    assert not model.training
    assert not any(p.grad is not None for p in model.parameters())


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_a_model_in_half_precision(dtype):
    """A sum of 16384 losses is infinite in float16, and rounded in bfloat16."""
    torch.manual_seed(0)
    model = Model(400).to(dtype)
    ids = torch.randint(400, (16 * 1024 + 1,))
    data = snippet.next_token_dataset(ids, T=1024)
    got = snippet.perplexity(model, DataLoader(data, batch_size=16))
    z = model.table.weight.detach().double()[ids[:-1]].log_softmax(1)
    mean = -z.gather(1, ids[1:, None]).mean().item()
    assert got == pytest.approx(math.exp(mean), rel=1e-4)


def test_a_model_that_knows_nothing():
    model = Model(50)
    nn.init.zeros_(model.table.weight)
    data = snippet.next_token_dataset(torch.randint(50, (41,)), T=8)
    got = snippet.perplexity(model, DataLoader(data, batch_size=2))
    assert got == pytest.approx(50, rel=1e-5)


def test_no_graph_is_kept():
    seen = []

    class Spy(Model):
        def forward(self, x):
            seen.append(torch.is_grad_enabled())
            return super().forward(x)

    data = snippet.next_token_dataset(torch.randint(7, (9,)), T=4)
    snippet.perplexity(Spy(7), DataLoader(data))
    assert seen == [False, False]


@pytest.fixture(scope="module")
def llama():
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=30,
        hidden_size=16,
        intermediate_size=20,
        num_hidden_layers=1,
        num_attention_heads=2,
    )
    return LlamaForCausalLM(config).eval()


def test_transformers_moves_the_labels_itself(llama):
    ids = torch.randint(30, (3, 9))
    x, y = ids[:, :-1], ids[:, 1:]
    ours = F.cross_entropy(llama(x).logits.flatten(0, 1), y.flatten())
    torch.testing.assert_close(llama(ids, labels=ids).loss, ours)
    # given y, it predicts the token after the next
    logits = llama(x).logits[:, :-1]
    wrong = F.cross_entropy(logits.flatten(0, 1), y[:, 1:].flatten())
    torch.testing.assert_close(llama(x, labels=y).loss, wrong)


def test_logits_that_are_not_flat():
    with raises_as_documented(PAGE, "RuntimeError: Expected target size"):
        F.cross_entropy(torch.randn(8, 16, 256), torch.randint(256, (8, 16)))
    logits, y = torch.randn(8, 16, 256), torch.randint(256, (8, 16))
    torch.testing.assert_close(
        F.cross_entropy(logits.mT, y),
        F.cross_entropy(logits.flatten(0, 1), y.flatten()),
    )


def test_padding_by_lengths():
    """As the page says: -100 after the end, and NaN if nothing is left."""
    texts = [[3, 5, 2], [8, 4, 6, 7, 2]]  # 2 is the end and the padding
    ids = torch.tensor([text + [2] * (5 - len(text)) for text in texts])
    y, lengths = ids[:, 1:], torch.tensor([len(text) - 1 for text in texts])
    real = torch.arange(4) < lengths[:, None]
    y = y.masked_fill(~real, -100)
    assert y.tolist() == [[5, 2, -100, -100], [4, 6, 7, 2]]  # 2, the end, is kept
    assert F.cross_entropy(torch.randn(3, 9), torch.full((3,), -100)).isnan()


def test_the_mean_of_the_batches_is_another_number():
    torch.manual_seed(0)
    logits, y = torch.randn(2, 8, 5), torch.randint(5, (2, 8))
    y[1, 1:] = -100
    each = F.cross_entropy(logits.mT, y, reduction="none").sum(1)
    right = each.sum() / 9
    batches = torch.stack([F.cross_entropy(logits[b], y[b]) for b in range(2)])
    assert not torch.isclose(batches.mean(), right, rtol=1e-2)


def test_ids_from_a_file_of_uint16():
    ids = torch.arange(9).to(torch.uint16)
    loader = DataLoader(snippet.next_token_dataset(ids, T=4), batch_size=2)
    x, y = next(iter(loader))
    model = Model(9)
    loss = F.cross_entropy(model(x.long()).flatten(0, 1), y.long().flatten())
    assert loss.isfinite()


@pytest.mark.parametrize("N", [41, 48, 17])
def test_the_answer_trains_on_each_target_once(N):
    answer = recipes()["next-token-dataset"].answer
    assert set(answer.yours) == {"train_ids", "T", "model", "optimizer", "device"}
    seen, net = [], Model(50)
    net.register_forward_pre_hook(lambda _, args: seen.append(args[0]))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.0)
    names = {"train_ids": torch.arange(N), "T": 8, "model": net, "device": "cpu"}
    names["optimizer"] = optimizer
    exec(answer.text, names)
    assert sorted(torch.cat(seen).flatten().tolist()) == [*range((N - 1) // 8 * 8)]
    assert torch.equal(names["y"], names["x"] + 1)


def test_the_answer_moves_its_batches():
    """A device that every machine has, and that is not the CPU."""
    net = Model(50).to("meta")
    names = {"train_ids": torch.arange(33), "T": 8, "model": net, "device": "meta"}
    names["optimizer"] = torch.optim.SGD(net.parameters(), lr=0.1)
    exec(recipes()["next-token-dataset"].answer.text, names)
    assert names["loss"].is_meta
