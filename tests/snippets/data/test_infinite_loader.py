"""infinite-loader: passes are whole and shuffled anew; cycle repeats; messages."""

import weakref
from itertools import cycle, islice

import pytest
import torch
from torch.utils.data import (
    DataLoader,
    Dataset,
    DistributedSampler,
    RandomSampler,
    TensorDataset,
)
from torch.utils.data.datapipes.iter import IterableWrapper

from tests.chains.pasted import answer
from tests.helpers import load_snippet, raises_as_documented

PAGE = "data/infinite-loader"
snippet = load_snippet("data/infinite_loader.py")


def samples(batches, n):
    return [x for batch in islice(batches, n) for x in batch.tolist()]


def test_whole_passes_in_new_orders():
    torch.manual_seed(0)
    loader = DataLoader(torch.arange(30), 4, shuffle=True)  # 8 batches
    passes = [samples(islice(loader, 8), 8)]
    batches = snippet.forever(loader)
    passes += [samples(batches, 8) for _ in range(3)]
    assert all(sorted(one) == list(range(30)) for one in passes)
    assert len(set(map(tuple, passes))) == 4


def test_the_steps_that_are_asked_for():
    loader = DataLoader(torch.arange(6), 2)
    steps = [(i, x.tolist()) for i, x in enumerate(islice(snippet.forever(loader), 7))]
    assert [i for i, _ in steps] == list(range(7))
    assert [x for _, x in steps] == [[0, 1], [2, 3], [4, 5]] * 2 + [[0, 1]]


def test_cycle_repeats_the_first_pass_and_keeps_it():
    torch.manual_seed(0)
    batches = cycle(DataLoader(torch.arange(30), 4, shuffle=True))
    first, second = samples(batches, 8), samples(batches, 8)
    assert first == second
    for endless, kept in (cycle, True), (snippet.forever, False):
        batches = endless(DataLoader(torch.arange(6), 2))
        reference = weakref.ref(next(batches))
        next(batches)
        assert (reference() is not None) == kept


class Noise(Dataset):
    """A random augmentation of one sample."""

    def __len__(self):
        return 1

    def __getitem__(self, i):
        return torch.rand(())


def test_cycle_does_not_augment_again():
    a, b = islice(cycle(DataLoader(Noise())), 2)
    assert torch.equal(a, b)
    a, b = islice(snippet.forever(DataLoader(Noise())), 2)
    assert not torch.equal(a, b)


def test_one_batch():
    loader = DataLoader(torch.arange(6), 2)
    assert [next(iter(loader)).tolist() for _ in range(2)] == [[0, 1], [0, 1]]
    with raises_as_documented(PAGE, "TypeError: 'DataLoader' object is not an"):
        next(loader)
    with raises_as_documented(PAGE, "TypeError: 'DataLoader' object is not sub"):
        loader[0]
    assert loader.dataset[0] == 0
    pipe = IterableWrapper([1, 2]).map(abs)
    with raises_as_documented(PAGE, "TypeError: 'MapperIterDataPipe'"):
        next(pipe)
    assert next(iter(pipe)) == 1


def test_iterators_of_old_code():
    with raises_as_documented(PAGE, "AttributeError: '_Single"):
        iter(DataLoader([1])).next()
    batches = iter(DataLoader([1], num_workers=1))
    assert len(list(batches)) == 1  # to the end: the worker stops
    with raises_as_documented(PAGE, "AttributeError: '_Multi"):
        batches.next()


def test_the_end_of_a_pass_inside_a_generator():
    def batches():
        one_pass = iter(DataLoader([1]))
        while True:
            yield next(one_pass)

    with raises_as_documented(PAGE, "RuntimeError: generator"):
        list(batches())


def test_without_a_batch_it_ends():
    loader = DataLoader(torch.arange(3), 4, drop_last=True)
    assert len(loader) == 0
    with pytest.raises(ValueError, match="the loader has no batch"):
        next(snippet.forever(loader))

    once = iter([torch.ones(1)])  # it does not start again
    batches = snippet.forever(once)
    next(batches)
    with pytest.raises(ValueError, match="the loader has no batch"):
        next(batches)


@pytest.mark.parametrize("drop_last", [False, True])
def test_the_answer_alone(drop_last):
    """5 samples in batches of 2: passes of 3 steps, or of 2."""
    sizes = []
    names = {"steps": 7, "train_step": lambda x, y: sizes.append(len(x))}
    data = TensorDataset(torch.arange(5), torch.arange(5))
    loader = DataLoader(data, 2, shuffle=True, drop_last=drop_last)
    exec(answer("infinite-loader"), names | {"loader": loader})
    assert sizes == ([2] * 7 if drop_last else [2, 2, 1, 2, 2, 1, 2])


def test_a_sampler_of_so_many_steps():
    torch.manual_seed(0)
    data = torch.arange(32)
    sampler = RandomSampler(data, num_samples=16 * 5)
    loader = DataLoader(data, 16, sampler=sampler)
    assert len(loader) == 5
    batches = [x.tolist() for x in loader]
    assert len(batches) == 5
    first, second = batches[0] + batches[1], batches[2] + batches[3]
    assert sorted(first) == sorted(second) == list(range(32))
    assert first != second


def test_two_loaders_end_with_the_first():
    labelled, unlabelled = DataLoader(range(5)), DataLoader(range(2))
    both = zip(labelled, snippet.forever(unlabelled), strict=False)
    pairs = [(a.item(), b.item()) for a, b in both]
    assert pairs == [(0, 0), (1, 1), (2, 0), (3, 1), (4, 0)]


@pytest.mark.parametrize("count", [False, True])
def test_a_distributed_sampler_needs_an_epoch(count):
    sampler = DistributedSampler(range(20), num_replicas=2, rank=0)
    loader = DataLoader(range(20), 5, sampler=sampler)

    def forever():
        epoch = 0
        while True:
            sampler.set_epoch(epoch)
            yield from loader
            epoch += count

    batches = forever()
    assert (samples(batches, 2) != samples(batches, 2)) == count
