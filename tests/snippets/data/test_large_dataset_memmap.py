"""large-dataset-memmap: rows against the array; what is read, when, and pickled."""

import pickle
import subprocess
import sys
import warnings

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader, Dataset, StackDataset

from tests.chains.pasted import answer
from tests.helpers import assert_documented, load_snippet, raises_as_documented

snippet = load_snippet("data/large_dataset_memmap.py")
PAGE = "data/large-dataset-memmap"


@pytest.fixture
def saved(tmp_path):
    array = np.random.default_rng(0).random((50, 4, 3), dtype=np.float32)
    np.save(tmp_path / "x.npy", array)
    return tmp_path / "x.npy", array


def test_samples_are_the_rows(saved):
    path, array = saved
    dataset = snippet.MemmapDataset(path)
    assert isinstance(dataset, Dataset)
    assert len(dataset) == 50
    for index in (0, 7, -1):
        sample = dataset[index]
        assert sample.dtype == torch.float32
        np.testing.assert_array_equal(sample.numpy(), array[index])
    with pytest.raises(IndexError):
        dataset[50]


@pytest.mark.parametrize("num_workers", [0, 2])
def test_a_loader_reads_all_rows(saved, num_workers):
    path, array = saved
    loader = DataLoader(snippet.MemmapDataset(path), 8, num_workers=num_workers)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(torch.cat(list(loader)).numpy(), array)


def test_the_answer_alone(tmp_path):
    """uint8 images, and a last small batch; every row once."""
    images = np.random.default_rng(0).integers(0, 256, (69, 3, 4, 4), dtype=np.uint8)
    np.save(tmp_path / "x.npy", images)
    names = {"path": str(tmp_path / "x.npy")}
    exec(answer("large-dataset-memmap"), names)
    batches = list(names["loader"])
    assert {x.dtype for x in batches} == {torch.uint8}
    assert [len(x) for x in batches] == [32, 32, 5]
    rows = sorted(x.numpy().tobytes() for x in torch.cat(batches))
    assert rows == sorted(x.tobytes() for x in images)


def test_the_file_is_opened_once_and_only_at_the_first_sample(saved, monkeypatch):
    path, _ = saved
    opened, load = [], np.load

    def count(*args, **kwargs):
        opened.append(kwargs)
        return load(*args, **kwargs)

    monkeypatch.setattr(np, "load", count)
    dataset = snippet.MemmapDataset(path)
    assert dataset.array is None
    dataset[0], dataset[1]
    assert opened == 2 * [{"mmap_mode": "r"}]  # the length, and the first sample
    assert isinstance(dataset.array, np.memmap)


def test_a_sample_is_a_copy(saved):
    path, array = saved
    sample = snippet.MemmapDataset(path)[3]
    sample.zero_()
    np.testing.assert_array_equal(np.load(path), array)


def test_what_a_worker_is_sent(saved):
    path, array = saved
    dataset = snippet.MemmapDataset(str(path))
    assert len(pickle.dumps(dataset)) < 500 < array.nbytes
    dataset[0]
    sent = pickle.dumps(dataset)
    assert len(sent) < 500
    np.testing.assert_array_equal(pickle.loads(sent)[3], array[3])
    assert len(pickle.dumps(dataset.array)) > array.nbytes  # why it is left out


@pytest.mark.parametrize("num_workers", [0, 2])
def test_a_loader_with_labels(saved, tmp_path, num_workers):
    path, array = saved
    np.save(tmp_path / "y.npy", np.arange(50))
    images = snippet.MemmapDataset(path)
    for labels in (torch.arange(50), snippet.MemmapDataset(tmp_path / "y.npy")):
        data = StackDataset(images, labels)
        assert data[7][1] == 7
        for x, y in DataLoader(data, 8, shuffle=True, num_workers=num_workers):
            np.testing.assert_array_equal(x.numpy(), array[y.numpy()])


def test_what_reads_everything(saved, tmp_path):
    path, array = saved
    with raises_as_documented(PAGE, "MemoryError: Unable to allocate"):
        np.empty((10**8, 10**7))
    mapped = np.load(path, mmap_mode="r")
    assert mapped.filename
    assert mapped.astype(np.float64).filename is None  # in memory
    np.savez(tmp_path / "x.npz", x=array)
    in_zip = np.load(tmp_path / "x.npz", mmap_mode="r")["x"]
    assert not isinstance(in_zip, np.memmap)


FROM_NUMPY = """
import sys, warnings, numpy as np, torch
warnings.simplefilter("error")
torch.from_numpy(np.load(sys.argv[1], mmap_mode="r")[0])
"""


def test_sharing_memory_with_the_map_warns(saved):
    # torch warns of it once in a process, perhaps before this test.
    run = subprocess.run(
        [sys.executable, "-c", FROM_NUMPY, saved[0]],
        capture_output=True,
        text=True,
        check=False,
    )
    raised = run.stderr[run.stderr.index("UserWarning: ") :]
    assert_documented(PAGE, "UserWarning: The given NumPy", raised)


def test_other_messages(saved, tmp_path):
    path, _ = saved
    with raises_as_documented(PAGE, "ValueError: mmap length"):
        np.memmap(path, np.float32, "r", shape=(500, 4, 3))
    np.save(tmp_path / "o.npy", np.array(["a", 1], dtype=object), allow_pickle=True)
    with raises_as_documented(PAGE, "ValueError: Array can't"):
        np.load(tmp_path / "o.npy", mmap_mode="r", allow_pickle=True)


def test_variants(tmp_path):
    np.arange(20, dtype=np.uint16).tofile(tmp_path / "tokens.bin")
    tokens = np.memmap(tmp_path / "tokens.bin", np.uint16, "r")
    sample = torch.tensor(tokens[3 : 3 + 4].astype(np.int64))
    assert (sample.dtype, sample.tolist()) == (torch.int64, [3, 4, 5, 6])
    torch.save(torch.arange(6.0), tmp_path / "x.pt")
    loaded = torch.load(tmp_path / "x.pt", mmap=True, weights_only=True)
    assert loaded.tolist() == [0, 1, 2, 3, 4, 5]
