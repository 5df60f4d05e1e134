"""bucket-batching: each index once, padding against plain Python, shares, bad input."""

import dataclasses

import pytest
import torch
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, DistributedSampler, Subset
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
    batches = snippet.bucket_batches(given, 8)
    assert sorted(i for b in batches for i in b) == list(range(5003))
    assert sorted(map(len, batches)) == [3] + [8] * 625
    assert isinstance(batches[0][0], int)


def test_little_padding():
    torch.manual_seed(0)
    plain = torch.randperm(5003).split(8)
    buckets = snippet.bucket_batches(lengths, 8)
    assert padding(x.tolist() for x in plain) > 0.35
    assert padding(buckets) < 0.01
    best = lengths.argsort().split(8)
    assert padding(x.tolist() for x in best) <= padding(buckets)


def test_a_chunk_is_100_batches():
    torch.manual_seed(0)
    spans = {}
    for n in 800, 1600:  # one chunk, two
        batches = snippet.bucket_batches(range(n), 8)
        spans[n] = [max(b) - min(b) for b in batches]
    assert set(spans[800]) == {7}  # sorted through
    assert sum(spans[1600]) / 200 > 12  # every second index, by chance


def test_other_batches_in_another_order_and_a_seed():
    torch.manual_seed(3)
    first, second = (snippet.bucket_batches(lengths, 8) for _ in range(2))
    assert first != second
    assert not set(map(frozenset, first)) & set(map(frozenset, second))
    torch.manual_seed(3)
    assert snippet.bucket_batches(lengths, 8) == first
    longest = torch.tensor([lengths[b].max() for b in first]).float()
    place = torch.arange(len(first)).float()
    correlation = torch.corrcoef(torch.stack([longest, place]))[0, 1]
    assert correlation.abs() < 0.2  # not from short to long


@pytest.mark.parametrize("num_workers", [0, 1])
def test_in_a_loader_and_new_ones_in_the_same_list(num_workers):
    sizes = [3, 9, 2, 8, 4]
    data = [torch.full((n,), i) for i, n in enumerate(sizes)]
    batches = snippet.bucket_batches(sizes, 2)
    loader = DataLoader(
        data,
        batch_sampler=batches,
        num_workers=num_workers,
        persistent_workers=num_workers > 0,
        collate_fn=pad_sequence,
    )
    assert len(loader) == 3
    shapes = sorted(tuple(batch.shape) for batch in loader)
    assert shapes == [(3, 2), (8, 2), (9, 1)]
    for new in [[1, 3], [0]], [[2], [4, 1]]:
        batches[:] = new
        assert [batch[0].tolist() for batch in loader] == new


def test_what_the_loader_refuses():
    batches = snippet.bucket_batches([1, 2], 2)
    every = {"batch_size": 2}, {"shuffle": True}, {"drop_last": True}
    for options in (*every, {"sampler": DistributedSampler([0, 1], 2, 0)}):
        with raises_as_documented(PAGE, "ValueError: batch_sampler"):
            DataLoader([0, 1], batch_sampler=batches, **options)


def test_shares_of_processes():
    n, world_size = 5003, 4
    seen, sizes = [], set()
    for rank in range(world_size):
        share = range(rank, n - n % world_size, world_size)
        batches = snippet.bucket_batches([lengths[i] for i in share], 8)
        subset = Subset(range(n), share)
        seen += [subset[i] for b in batches for i in b]
        sizes.add(len(batches))
    assert sorted(seen) == list(range(5000))
    assert len(sizes) == 1


def test_ratios_sort_images():
    sizes = [(100, 200), (300, 100), (110, 200), (310, 100)]
    batches = snippet.bucket_batches([w / h for w, h in sizes], 2)
    assert sorted(map(sorted, batches)) == [[0, 2], [1, 3]]


def test_the_trainer_has_one():
    (option,) = (
        field
        for field in dataclasses.fields(TrainingArguments)
        if field.name == "train_sampling_strategy"
    )
    assert "group_by_length" in option.metadata["choices"]
