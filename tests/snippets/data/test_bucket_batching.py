"""bucket-batching: each index once, padding against plain Python, shares, bad input."""

import dataclasses

import pytest
import torch
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, Subset
from transformers import TrainingArguments

from tests.helpers import load_snippet, raises_as_documented

PAGE = "data/bucket-batching"
snippet = load_snippet("data/bucket_batching.py")
lengths = torch.randint(1, 300, (5003,), generator=torch.Generator().manual_seed(1))


def padding(batches):
    """The share of padding, counted without tensors."""
    sizes = lengths.tolist()
    padded = sum(max(sizes[i] for i in b) * len(b) for b in batches)
    return 1 - sum(sizes) / padded


@pytest.mark.parametrize("given", [lengths, lengths.tolist()])
def test_every_index_once(given):
    sampler = snippet.BucketBatchSampler(given, 8)
    batches = list(sampler)
    assert sorted(i for b in batches for i in b) == list(range(5003))
    assert sorted(map(len, batches)) == [3] + [8] * 625
    assert len(sampler) == len(batches) == 626
    assert isinstance(batches[0][0], int)


def test_little_padding():
    torch.manual_seed(0)
    plain = torch.randperm(5003).split(8)
    buckets = list(snippet.BucketBatchSampler(lengths, 8))
    assert padding(x.tolist() for x in plain) > 0.35
    assert padding(buckets) < 0.01
    best = lengths.argsort().split(8)
    assert padding(x.tolist() for x in best) <= padding(buckets)


def test_a_chunk_is_100_batches():
    torch.manual_seed(0)
    batches = list(snippet.BucketBatchSampler(range(4000), 8))
    torch.manual_seed(0)
    chunks = [frozenset(c.tolist()) for c in torch.randperm(4000).split(800)]
    assert all(sum(set(b) <= c for c in chunks) == 1 for b in batches)


def test_new_batches_in_a_new_order_and_a_seed():
    sampler = snippet.BucketBatchSampler(lengths, 8)
    torch.manual_seed(3)
    first, second = list(sampler), list(sampler)
    assert first != second
    assert not set(map(frozenset, first)) & set(map(frozenset, second))
    torch.manual_seed(3)
    assert list(sampler) == first
    longest = torch.tensor([lengths[b].max() for b in first]).float()
    place = torch.arange(len(first)).float()
    correlation = torch.corrcoef(torch.stack([longest, place]))[0, 1]
    assert correlation.abs() < 0.2  # not from short to long


@pytest.mark.parametrize("num_workers", [0, 2])
def test_in_a_loader(num_workers):
    data = [torch.full((n,), i) for i, n in enumerate([3, 9, 2, 8, 4])]
    sampler = snippet.BucketBatchSampler([3, 9, 2, 8, 4], 2)
    loader = DataLoader(
        data, batch_sampler=sampler, num_workers=num_workers, collate_fn=pad_sequence
    )
    assert len(loader) == 3
    shapes = sorted(tuple(batch.shape) for batch in loader)
    assert shapes == [(3, 2), (8, 2), (9, 1)]


def test_what_the_loader_refuses():
    sampler = snippet.BucketBatchSampler([1, 2], 2)
    for options in {"batch_size": 2}, {"shuffle": True}, {"drop_last": True}:
        with raises_as_documented(PAGE, "ValueError: batch_sampler"):
            DataLoader([0, 1], batch_sampler=sampler, **options)


def test_shares_of_processes():
    n, world_size = 5003, 4
    seen, sizes = [], set()
    for rank in range(world_size):
        share = range(rank, n - n % world_size, world_size)
        sampler = snippet.BucketBatchSampler([lengths[i] for i in share], 8)
        subset = Subset(range(n), share)
        seen += [subset[i] for b in sampler for i in b]
        sizes.add(len(sampler))
    assert sorted(seen) == list(range(5000))
    assert len(sizes) == 1


def test_ratios_sort_images():
    sizes = [(100, 200), (300, 100), (110, 200), (310, 100)]
    sampler = snippet.BucketBatchSampler([w / h for w, h in sizes], 2)
    assert sorted(map(sorted, sampler)) == [[0, 2], [1, 3]]


def test_the_trainer_has_one():
    (option,) = (
        field
        for field in dataclasses.fields(TrainingArguments)
        if field.name == "train_sampling_strategy"
    )
    assert "group_by_length" in option.metadata["choices"]
