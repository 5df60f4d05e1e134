"""bucket-batching: each index once, padding against plain Python, shares, bad input."""

import dataclasses
from functools import partial

import pytest
import torch
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, DistributedSampler, Subset
from transformers import TrainingArguments

from tests.chains.pasted import answer
from tests.helpers import load_snippet, raises_as_documented

PAGE = "data/bucket-batching"
snippet = load_snippet("data/bucket_batching.py")
lengths = torch.randint(1, 300, (5003,), generator=torch.Generator().manual_seed(1))


def batches_of(lengths, size):
    """What the loader gets in one epoch."""
    return list(snippet.BucketSampler(lengths, size))


def padding(batches):
    """The share of padding, counted without tensors."""
    sizes = lengths.tolist()
    padded = sum(max(sizes[i] for i in b) * len(b) for b in batches)
    return 1 - sum(sizes) / padded


@pytest.mark.parametrize("given", [lengths, lengths.tolist()])
def test_every_index_once(given):
    batches = batches_of(given, 8)
    assert sorted(i for b in batches for i in b) == list(range(5003))
    assert sorted(map(len, batches)) == [3] + [8] * 625
    assert isinstance(batches[0][0], int)


def test_little_padding():
    torch.manual_seed(0)
    plain = torch.randperm(5003).split(8)
    buckets = batches_of(lengths, 8)
    assert padding(x.tolist() for x in plain) > 0.35
    assert padding(buckets) < 0.01
    best = lengths.argsort().split(8)
    assert padding(x.tolist() for x in best) <= padding(buckets)


@pytest.mark.parametrize(
    ("n", "chunks"), [(40, 5), (64, 4), (800, 4), (3200, 4), (6400, 8)]
)
def test_a_chunk_is_at_most_100_batches(n, chunks):
    """Among k random chunks, neighbours in a chunk are k apart in the order."""
    torch.manual_seed(0)
    spans = [max(b) - min(b) for b in batches_of(range(n), 8)]
    mean = sum(spans) / len(spans)
    assert mean == pytest.approx(7 * chunks, rel=0.35)


@pytest.mark.parametrize("n", [500, 3200, 6400])
def test_small_data_have_other_batches_in_the_next_epoch(n):
    torch.manual_seed(0)
    sizes = torch.randint(5, 200, (n,))
    sampler = snippet.BucketSampler(sizes, 32)
    first, second = ({frozenset(b) for b in sampler} for _ in range(2))
    assert len(first) == len(sampler)
    assert not first & second
    padded = sum(sizes[list(b)].max().item() * len(b) for b in first)
    share = 1 - sizes.sum().item() / padded
    assert share == pytest.approx({500: 0.2, 3200: 0.034, 6400: 0.018}[n], rel=0.2)


def test_fewer_samples_than_a_batch():
    (batch,) = batches_of([3, 1, 2], 8)
    assert sorted(batch) == [0, 1, 2]


def test_the_answer_alone():
    """Time is the second dimension; a second pass has other batches."""
    sizes = [n % 9 + 1 for n in range(130)]
    names = {"lengths": sizes, "data": [torch.full((n,), n) for n in sizes]}
    exec(answer("bucket-batching"), names)
    loader = names["loader"]
    first, second = ([tuple(x.shape) for x in loader] for _ in range(2))
    assert len(loader) == len(first) == 5
    assert sorted(shape[0] for shape in first) == [2, 32, 32, 32, 32]
    assert all(x.max().item() == x.shape[1] for x in loader)
    assert first != second


def test_other_batches_in_another_order_and_a_seed():
    torch.manual_seed(3)
    first, second = (batches_of(lengths, 8) for _ in range(2))
    assert first != second
    assert not set(map(frozenset, first)) & set(map(frozenset, second))
    torch.manual_seed(3)
    assert batches_of(lengths, 8) == first
    longest = torch.tensor([lengths[b].max() for b in first]).float()
    place = torch.arange(len(first)).float()
    correlation = torch.corrcoef(torch.stack([longest, place]))[0, 1]
    assert correlation.abs() < 0.2  # not from short to long


@pytest.mark.parametrize("num_workers", [0, 1])
def test_in_a_loader_two_epochs(num_workers):
    sizes = [3, 9, 2, 8, 4]
    data = [torch.full((n,), i) for i, n in enumerate(sizes)]
    loader = DataLoader(
        data,
        batch_sampler=snippet.BucketSampler(sizes, 2),
        num_workers=num_workers,
        persistent_workers=num_workers > 0,
        collate_fn=partial(pad_sequence, batch_first=True),
    )
    assert len(loader) == 3
    for _ in range(2):
        assert sorted(i for x in loader for i in x[:, 0].tolist()) == [0, 1, 2, 3, 4]


def test_what_the_loader_refuses():
    batches = batches_of([1, 2], 2)
    every = {"batch_size": 2}, {"shuffle": True}, {"drop_last": True}
    for options in (*every, {"sampler": DistributedSampler([0, 1], 2, 0)}):
        with raises_as_documented(PAGE, "ValueError: batch_sampler"):
            DataLoader([0, 1], batch_sampler=batches, **options)


def test_shares_of_processes():
    n, world_size = 5003, 4
    seen, sizes = [], set()
    for rank in range(world_size):
        share = range(rank, n - n % world_size, world_size)
        batches = batches_of([lengths[i] for i in share], 8)
        subset = Subset(range(n), share)
        seen += [subset[i] for b in batches for i in b]
        sizes.add(len(batches))
    assert sorted(seen) == list(range(5000))
    assert len(sizes) == 1


def test_ratios_sort_images():
    sizes = [(100, 200)] * 40 + [(300, 100)] * 40
    wide = [
        {i >= 40 for i in batch} for batch in batches_of([w / h for w, h in sizes], 2)
    ]
    assert wide.count({True}) + wide.count({False}) >= 36  # one mixed in each chunk


def test_the_trainer_has_one():
    (option,) = (
        field
        for field in dataclasses.fields(TrainingArguments)
        if field.name == "train_sampling_strategy"
    )
    assert "group_by_length" in option.metadata["choices"]
