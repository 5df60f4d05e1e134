"""worker-seeding: which generators repeat in workers and epochs, and which do not."""

import inspect
import pickle
import random

import numpy as np
import pytest
import torch
from torch.utils.data import (
    DataLoader,
    Dataset,
    IterableDataset,
    Subset,
    get_worker_info,
)

from tests.helpers import load_snippet, raises_as_documented

snippet = load_snippet("data/worker_seeding.py")
PAGE = "data/worker-seeding"


def draw(loader):
    return [x.item() for x in loader]


def loader_of(dataset, seed=0, **options):
    """A loader of two workers, started from a seed."""
    generator = torch.Generator().manual_seed(seed)
    return DataLoader(dataset, num_workers=2, generator=generator, **options)


def test_a_generator_made_once_repeats():
    loader = loader_of(snippet.Copied())
    first, second = draw(loader), draw(loader)
    assert first == second
    assert first[::2] == first[1::2] == np.random.default_rng(0).random(4).tolist()


@pytest.mark.parametrize("wrap", [lambda x: x, lambda x: Subset(x, range(8))])
def test_each_worker_and_epoch_has_a_seed_of_its_own(wrap):
    dataset = wrap(snippet.Noise())
    dataset[0]  # looked at before: the generator of this process is copied
    loader = loader_of(dataset)
    first, second = draw(loader), draw(loader)
    assert len({*first, *second}) == 16
    assert (
        draw(loader_of(wrap(snippet.Noise()))) == first
    )  # the same seed, the same run
    assert not {*draw(loader_of(dataset, 1))} & {*first}


class Sources(Dataset):
    """The seed of the worker and a number of each global generator."""

    def __len__(self):
        return 8

    def __getitem__(self, index):
        seeds = get_worker_info().seed, torch.initial_seed()
        return *seeds, random.random(), np.random.rand(), torch.rand(()).item()


def test_torch_seeds_what_is_global():
    loader = loader_of(Sources(), batch_size=None)
    first, second = list(loader), list(loader)
    for epoch in (first, second):
        assert all(info == initial for info, initial, *_ in epoch)
        assert {seed for seed, *_ in epoch} == {epoch[0][0], epoch[0][0] + 1}
    assert first[0][0] != second[0][0]
    for column in (2, 3, 4):
        assert len({row[column] for row in first + second}) == 16


class Global(snippet.Noise):
    """Draws from NumPy's global generator."""

    def __getitem__(self, index):
        return np.random.rand()


def test_a_fixed_seed_per_worker_repeats_in_each_epoch():
    loader = loader_of(Global(), worker_init_fn=np.random.seed)
    assert draw(loader) == draw(loader)


def test_without_workers_nothing_repeats():
    loader = DataLoader(snippet.Noise())
    assert len({*draw(loader), *draw(loader)}) == 16
    torch.manual_seed(0)
    first = draw(DataLoader(snippet.Noise()))
    torch.manual_seed(0)
    snippet.Noise()[0]
    assert draw(DataLoader(snippet.Noise())) == first


class Kept(snippet.WorkerRng, Dataset):
    """A dataset with a seed and a generator of its own beside those of the base."""

    def __init__(self):
        self.seed, self.generator = 7, "kept"


def test_a_pickled_dataset_draws_anew_and_keeps_what_it_has():
    """As it is sent to a worker that is spawned."""
    (dataset := Kept()).rng.random()  # looked at before
    data, drawn = pickle.dumps(dataset), set()
    for seed in range(2):
        torch.manual_seed(seed)
        sent = pickle.loads(data)
        drawn |= {sent.rng.random(), sent.rng.random()}
    assert len(drawn) == 4
    assert (sent.seed, sent.generator) == (7, "kept")


def test_a_generator_of_ones_own_is_refused():
    with pytest.raises(AttributeError, match="rng"):
        snippet.Noise().rng = np.random.default_rng(0)


def test_persistent_workers_go_on():
    loader = loader_of(snippet.Noise(), persistent_workers=True)
    assert not {*draw(loader)} & {*draw(loader)}


class Stream(snippet.WorkerRng, IterableDataset):
    """A stream that draws as the answer does."""

    def __iter__(self):
        for _ in range(4):
            yield self.rng.random()


@pytest.mark.parametrize("persistent", [False, True])
def test_a_stream_draws_anew_in_each_worker_and_epoch(persistent):
    loader = loader_of(Stream(), persistent_workers=persistent)
    assert len({*draw(loader), *draw(loader)}) == 16


def test_processes_of_one_seed_draw_the_same():
    drawn = []
    for rank in range(2):
        torch.manual_seed(0)
        own = torch.Generator().manual_seed(0 + rank)
        plain = DataLoader(snippet.Noise(), num_workers=2)
        seeded = DataLoader(snippet.Noise(), num_workers=2, generator=own)
        drawn.append((draw(plain), draw(seeded)))
    (first, own_first), (second, own_second) = drawn
    assert first == second
    assert not {*own_first} & {*own_second}


def test_worker_init_fn_cannot_reach_through_a_subset():
    def seed(worker_id):
        info = get_worker_info()
        info.dataset.rng = np.random.default_rng(info.seed)

    part = Subset(snippet.Copied(), range(8))
    assert len({*draw(loader_of(part, worker_init_fn=seed))}) == 4


def test_the_range_of_a_seed():
    with raises_as_documented(PAGE, "ValueError: Seed must be"):
        np.random.seed(2**40)
    assert np.random.default_rng(2**40).random() == pytest.approx(
        np.random.default_rng(2**40).random()
    )


@pytest.mark.parametrize("options", [{}, {"num_workers": 1}, {"shuffle": True}])
def test_an_epoch_moves_the_global_generator(options):
    before = torch.get_rng_state()
    loader = DataLoader(torch.arange(6), **options)
    own = DataLoader(torch.arange(6), generator=torch.Generator(), **options)
    assert len(list(own)) == 6
    assert torch.equal(torch.get_rng_state(), before)
    assert len(list(loader)) == 6
    after = torch.get_rng_state()
    torch.set_rng_state(before)
    for _ in range(1 + options.get("shuffle", False)):
        torch.empty((), dtype=torch.int64).random_()
    assert torch.equal(torch.get_rng_state(), after)


def test_two_datasets_of_one_worker_need_two_streams():
    source = inspect.getsource(snippet.WorkerRng)
    exec(
        source.replace("(self._seed)", "([1, self._seed])"),
        names := vars(snippet).copy(),
    )
    first, second = snippet.WorkerRng(), snippet.WorkerRng()
    assert first.rng.random() == second.rng.random()
    other = names["WorkerRng"]()
    assert other.rng.random() != snippet.WorkerRng().rng.random()
