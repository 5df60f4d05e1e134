"""dataloader-performance: what is counted, the options' effects and messages."""

import time

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


@pytest.mark.parametrize(
    "data",
    [
        DATA,
        [{"image": torch.zeros(2), "labels": 0}] * 10,  # batches are dicts
        [torch.zeros(2)] * 10,
    ],
)
def test_batches_of_any_kind_are_counted(monkeypatch, data):
    monkeypatch.setattr(snippet, "time", Clock())
    assert snippet.batches_per_second(DataLoader(data, 4)) == 3 / 2
    loader = DataLoader(data, 4, drop_last=True)
    assert snippet.batches_per_second(loader) == 2 / 2


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


class Epoch(Dataset):
    epoch = 0

    def __len__(self):
        return 2

    def __getitem__(self, index):
        return self.epoch


@pytest.mark.parametrize("persistent", [False, True])
def test_whether_workers_see_a_change(persistent):
    data = Epoch()
    loader = DataLoader(data, None, num_workers=1, persistent_workers=persistent)
    assert [*loader] == [0, 0]
    data.epoch = 1
    assert [*loader] == ([0, 0] if persistent else [1, 1])


class Late(Epoch):
    def __getitem__(self, index):
        time.sleep(0 if index else 2)
        return index


@pytest.mark.parametrize("in_order", [True, False])
def test_whether_a_late_batch_is_waited_for(in_order):
    loader = DataLoader(Late(), None, num_workers=2, in_order=in_order)
    assert [*loader] == ([0, 1] if in_order else [1, 0])


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


def test_a_loader_reads_tensors_one_by_one_and_slices_are_whole_batches():
    class Counted(TensorDataset):
        read = 0

        def __getitem__(self, index):
            self.read += 1
            return super().__getitem__(index)

    x, y = torch.arange(200.0)[:, None], torch.arange(200)
    data = Counted(x, y)
    loaded = [len(yb) for _, yb in DataLoader(data, 64, shuffle=True)]
    assert (loaded, data.read) == ([64, 64, 64, 8], 200)
    seen = []
    for i in torch.randperm(len(x)).split(64):
        xb, yb = x[i], y[i]
        assert torch.equal(xb[:, 0].long(), yb)
        seen.append(yb)
    assert [len(yb) for yb in seen] == loaded
    assert torch.equal(torch.cat(seen).sort().values, y)
