"""collate-variable-length: padding and mask against loops over lists."""

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader

from tests.helpers import load_snippet, raises_as_documented

snippet = load_snippet("data/collate_variable_length.py")
PAGE = "data/collate-variable-length"
LENGTHS = [3, 1, 5, 5]


@pytest.fixture
def samples():
    torch.manual_seed(0)
    return [(torch.randint(1, 9, (n,)), i) for i, n in enumerate(LENGTHS)]


def test_padding_and_mask_against_lists(samples):
    padded, mask, labels = snippet.pad_collate(samples)
    rows = [x.tolist() for x, _ in samples]
    assert padded.tolist() == [row + [0] * (5 - len(row)) for row in rows]
    assert mask.tolist() == [[t < n for t in range(5)] for n in LENGTHS]
    assert mask.dtype == torch.bool
    assert labels.tolist() == [0, 1, 2, 3]


def test_features_are_padded_along_time(samples):
    inputs = [(torch.ones(n, 2), 0.5) for n in LENGTHS]
    padded, mask, labels = snippet.pad_collate(inputs)
    assert padded.shape == (4, 5, 2)
    assert torch.equal(padded[..., 0], mask.float())
    assert labels.dtype == torch.float32


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        (torch.tensor([0.0, 1.0]), [[0.0, 1.0]] * 2),  # several labels per sample
        (torch.tensor(2), [2, 2]),
        (np.int64(3), [3, 3]),
        (True, [True, True]),
    ],
)
def test_labels_of_any_kind(label, expected):
    samples = [([5, 3], label), (np.array([7]), label)]  # inputs: lists, arrays
    padded, _, labels = snippet.pad_collate(samples)
    assert padded.tolist() == [[5, 3], [7, 0]]
    assert labels.tolist() == expected


def test_none_is_skipped(samples):
    with_gaps = [None, samples[0], None, samples[1]]
    for got, expected in zip(
        snippet.pad_collate(with_gaps), snippet.pad_collate(samples[:2]), strict=True
    ):
        assert torch.equal(got, expected)
    with pytest.raises(ValueError, match="every sample of the batch is None"):
        snippet.pad_collate([None, None])


def test_detection_samples_stay_apart():
    images = [torch.zeros(3, 8, 8), torch.zeros(3, 6, 9)]
    targets = [{"boxes": torch.zeros(n, 4)} for n in (2, 5)]
    pairs = list(zip(images, targets, strict=True))
    loader = DataLoader(pairs, 2, collate_fn=snippet.list_collate)
    ((x, y),) = loader
    assert isinstance(x, list)
    assert all(torch.equal(a, b) for a, b in zip(x, images, strict=True))
    assert [t["boxes"].shape[0] for t in y] == [2, 5]
    with pytest.raises(ValueError, match="zip"):
        snippet.list_collate([(1, 2), (3,)])


def test_the_mask_makes_the_padding_invisible(samples):
    torch.manual_seed(0)
    embed = nn.Embedding(9, 8)
    layer = nn.TransformerEncoderLayer(8, 2, batch_first=True, dropout=0.0)
    padded, mask, _ = snippet.pad_collate(samples)
    masked = layer(embed(padded), src_key_padding_mask=~mask)
    for row, (x, _) in enumerate(samples):
        alone = layer(embed(x[None]))[0]
        torch.testing.assert_close(masked[row, : len(x)], alone)


def test_padded_labels_are_ignored():
    labels = [torch.tensor([1, 0]), torch.tensor([2])]
    padded = pad_sequence(labels, batch_first=True, padding_value=-100)
    logits = torch.randn(2, 2, 3)
    loss = nn.functional.cross_entropy(logits.flatten(0, 1), padded.flatten())
    kept = nn.functional.cross_entropy(
        torch.stack([logits[0, 0], logits[0, 1], logits[1, 0]]), torch.tensor([1, 0, 2])
    )
    torch.testing.assert_close(loss, kept)


def test_the_documented_messages(samples):
    with raises_as_documented(PAGE, "RuntimeError: stack expects"):
        next(iter(DataLoader(samples, 4)))
    with raises_as_documented(PAGE, "RuntimeError: The size of"):
        snippet.pad_collate([(torch.ones(2, 3), 0), (torch.ones(1, 2), 0)])
    with raises_as_documented(PAGE, "RuntimeError: stack expects"):
        snippet.pad_collate([(torch.ones(n), torch.ones(n)) for n in (1, 2)])


@pytest.mark.filterwarnings("ignore:Got pickle error")
def test_a_lambda_cannot_be_sent_to_a_worker(samples):
    loader = DataLoader(
        samples,
        num_workers=1,
        collate_fn=lambda batch: batch,
        multiprocessing_context="spawn",
    )
    with raises_as_documented(PAGE, "AttributeError: Can't pickle local"):
        iter(loader)


def test_the_variants():
    samples = [{"a": torch.ones(n), "b": torch.ones(n + 1)} for n in (1, 3)]
    batch = {
        k: pad_sequence([s[k] for s in samples], batch_first=True) for k in samples[0]
    }
    assert (batch["a"].shape, batch["b"].shape) == ((2, 3), (2, 4))
    left = pad_sequence(
        [torch.ones(1), torch.ones(3)], batch_first=True, padding_side="left"
    )
    assert left.tolist() == [[0, 0, 1], [1, 1, 1]]
