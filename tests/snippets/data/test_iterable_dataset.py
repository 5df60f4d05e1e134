"""iterable-dataset: each line once for any number of workers; what goes wrong."""

import random
import warnings
from collections import Counter

import pytest
import torch
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

from tests.helpers import load_snippet, raises_as_documented

snippet = load_snippet("data/iterable_dataset.py")
PAGE = "data/iterable-dataset"


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "numbers.txt"
    file.write_text("".join(f"{i}\n" for i in range(11)))
    return file


def samples(loader):
    return [x for batch in loader for x in batch.tolist()]


@pytest.mark.parametrize("num_workers", [0, 2])
def test_every_line_once(path, num_workers):
    dataset = snippet.Lines(path)
    assert isinstance(dataset, IterableDataset)
    loader = DataLoader(dataset, batch_size=2, num_workers=num_workers)
    assert sorted(samples(loader)) == list(range(11))


def test_worker_i_has_every_nth_line_and_batches_take_turns(path):
    loader = DataLoader(snippet.Lines(path), batch_size=2, num_workers=2)
    first = [batch.tolist() for batch in loader]
    assert first == [[0, 2], [1, 3], [4, 6], [5, 7], [8, 10], [9]]


def test_more_workers_than_lines(path):
    path.write_text("5\n")
    assert samples(DataLoader(snippet.Lines(path), num_workers=2)) == [5]


def test_without_shares_each_line_comes_once_per_worker(path):
    every = snippet.EveryLine(path)
    assert samples(DataLoader(every)) == list(range(11))
    counts = Counter(samples(DataLoader(every, num_workers=2)))
    assert counts == dict.fromkeys(range(11), 2)


class Known(snippet.EveryLine):
    def __len__(self):
        return 11


class KnownShares(snippet.Lines):
    def __len__(self):
        return 11


def test_the_warning_needs_a_len(path):
    with (
        warnings.catch_warnings(),
        raises_as_documented(PAGE, "UserWarning: Length"),
    ):
        warnings.simplefilter("error")
        loader = DataLoader(Known(path), num_workers=2)
        assert len(loader) == 11
        list(loader)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        loader = DataLoader(KnownShares(path), num_workers=2)
        assert len(loader) == len(list(loader)) == 11


def test_shuffle_and_length(path):
    with raises_as_documented(PAGE, "ValueError: DataLoader with"):
        DataLoader(snippet.Lines(path), shuffle=True)
    with raises_as_documented(PAGE, "TypeError: object of type 'Lines'"):
        len(DataLoader(snippet.Lines(path)))
    with raises_as_documented(PAGE, "TypeError: object of type 'Lines'"):
        torch.utils.data.random_split(snippet.Lines(path), [0.5, 0.5])


class Buffered(snippet.Lines):
    """Shuffles a buffer, as the page says in words."""

    def __iter__(self):
        buffer = []
        for sample in super().__iter__():
            buffer.append(sample)
            if len(buffer) == 4:
                random.shuffle(buffer)
                yield from buffer
                buffer = []
        random.shuffle(buffer)
        yield from buffer


def test_a_buffer_shuffles_and_loses_nothing(path):
    random.seed(0)
    epochs = [list(Buffered(path)) for _ in range(3)]
    assert all(sorted(epoch) == list(range(11)) for epoch in epochs)
    assert len(set(map(tuple, epochs))) == 3


class ShuffledFiles(IterableDataset):
    """The order of the files that a worker comes to."""

    def __iter__(self):
        info, paths = get_worker_info(), list(range(20))
        seed = info.seed - info.id if info else torch.initial_seed()
        random.Random(seed).shuffle(paths)
        yield tuple(paths)


@pytest.mark.parametrize("persistent", [False, True])
def test_all_workers_shuffle_the_files_equally(persistent):
    settings = {"num_workers": 2, "persistent_workers": persistent}
    loader = DataLoader(ShuffledFiles(), batch_size=None, **settings)
    (first, same), (second, again) = list(loader), list(loader)
    assert first == same
    assert second == again
    assert sorted(first) == list(range(20)) != first
    assert (first == second) is persistent


def test_drop_last_drops_a_batch_per_worker(path):
    options = {"batch_size": 4, "num_workers": 2}
    sizes = [len(batch) for batch in DataLoader(snippet.Lines(path), **options)]
    assert sorted(sizes) == [1, 2, 4, 4]  # shares of 6 and 5
    loader = DataLoader(snippet.Lines(path), drop_last=True, **options)
    assert len(samples(loader)) == 8


class Files(IterableDataset):
    """The variants: shares of a list, over the processes too."""

    def __init__(self, paths, rank=0, world_size=1):
        self.paths, self.rank, self.world_size = paths, rank, world_size

    def __iter__(self):
        info = get_worker_info()
        i, n = info.id, info.num_workers
        i = self.rank * n + i
        n = self.world_size * n
        yield from self.paths[i::n]


def test_shares_over_processes_and_workers():
    seen = []
    for rank in range(2):
        dataset = Files(list(range(13)), rank, world_size=2)
        seen += samples(DataLoader(dataset, num_workers=2))
    assert sorted(seen) == list(range(13))


def start_and_end(worker_id):
    info = get_worker_info()
    info.dataset.paths = info.dataset.paths[info.id :: info.num_workers]


class AllFiles(Files):
    def __iter__(self):
        yield from self.paths


def test_a_worker_init_fn_can_divide():
    dataset = AllFiles(list(range(5)))
    loader = DataLoader(dataset, num_workers=2, worker_init_fn=start_and_end)
    assert sorted(samples(loader)) == list(range(5))
    assert dataset.paths == list(range(5))  # the workers have copies
