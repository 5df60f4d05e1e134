"""dataloader-performance: what is counted, the options' effects and messages."""

import pytest
import torch
from torch.utils.data import DataLoader, Dataset, TensorDataset

from tests.helpers import load_snippet, raises_as_documented

snippet = load_snippet("data/dataloader_performance.py")
PAGE = "data/dataloader-performance"
DATA = TensorDataset(torch.zeros(10), torch.zeros(10))


class Clock:
    """Each reading is two seconds later."""

    now = 100.0

    def perf_counter(self):
        self.now += 2
        return self.now


def test_samples_are_counted_not_batches(monkeypatch):
    monkeypatch.setattr(snippet, "time", Clock())
    assert snippet.samples_per_second(DataLoader(DATA, 4)) == 10 / 2


def test_a_sample_waits(monkeypatch):
    waited = []

    class Sleeper:
        sleep = staticmethod(waited.append)

    monkeypatch.setattr(snippet, "time", Sleeper)
    dataset = snippet.SlowFiles()
    image, index = dataset[5]
    assert (image.shape, index, waited) == ((3, 8, 8), 5, [0.005])
    assert len(dataset) == 320


def test_the_defaults():
    assert DataLoader(DATA).num_workers == 0
    loader = DataLoader(DATA, num_workers=1)
    assert (loader.prefetch_factor, loader.persistent_workers) == (2, False)


class Process(Dataset):
    """The process that reads, and its threads."""

    def __len__(self):
        return 4

    def __getitem__(self, index):
        import os

        return os.getpid(), torch.get_num_threads()


@pytest.mark.parametrize("persistent", [False, True])
def test_whether_workers_live_on(persistent):
    loader = DataLoader(Process(), None, num_workers=1, persistent_workers=persistent)
    first, second = ({pid for pid, _ in loader} for _ in range(2))
    assert len(first) == len(second) == 1
    assert (first == second) is persistent


def test_a_worker_has_one_thread():
    assert {n for _, n in DataLoader(Process(), None, num_workers=1)} == {1}


def test_options_that_need_workers():
    with raises_as_documented(PAGE, "ValueError: prefetch_factor"):
        DataLoader(DATA, prefetch_factor=4)
    with raises_as_documented(PAGE, "ValueError: persistent_workers"):
        DataLoader(DATA, persistent_workers=True)


def test_warnings_of_many_workers_and_of_no_gpu(monkeypatch):
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    monkeypatch.setattr("os.sched_getaffinity", lambda pid: {0, 1}, raising=False)
    with raises_as_documented(PAGE, "UserWarning: This DataLoader"):
        DataLoader(DATA, num_workers=64)
    monkeypatch.setattr(torch.accelerator, "is_available", lambda: False)
    with raises_as_documented(PAGE, "UserWarning: 'pin_memory'"):
        iter(DataLoader(DATA, pin_memory=True))
