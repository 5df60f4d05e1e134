"""builtin-datasets: files written by hand are read; nothing asks the network."""

import pickle
import socket
import struct
import tarfile

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader
from torchvision import datasets
from torchvision.transforms import v2

from tests.helpers import load_snippet, raises_as_documented

PAGE = "data/builtin-datasets"


@pytest.fixture(autouse=True)
def no_network(monkeypatch, tmp_path):
    def refused(*_):
        raise AssertionError("the network is asked")

    monkeypatch.setattr(socket, "getaddrinfo", refused)
    monkeypatch.chdir(tmp_path)


def write(folder, name: str, pixels: np.ndarray, labels: list[int]) -> None:
    """The two files of a part, in the format of yann.lecun.com/exdb/mnist."""
    folder.mkdir(parents=True, exist_ok=True)
    head = struct.pack(">4i", 2051, *pixels.shape)
    (folder / f"{name}-images-idx3-ubyte").write_bytes(head + pixels.tobytes())
    head = struct.pack(">2i", 2049, len(labels))
    (folder / f"{name}-labels-idx1-ubyte").write_bytes(head + bytes(labels))


@pytest.mark.parametrize("name", ["MNIST", "FashionMNIST", "KMNIST"])
def test_files_in_their_folder_are_read_and_nothing_is_downloaded(name, tmp_path):
    pixels = np.random.default_rng(0).integers(256, size=(3, 28, 28), dtype=np.uint8)
    for part in ("train", "t10k"):
        write(tmp_path / f"data/{name}/raw", part, pixels, [7, 0, 9])
    transform = v2.Compose([v2.ToImage(), v2.ToDtype(torch.float32, scale=True)])
    kind = getattr(datasets, name)
    found = kind("data", train=True, download=True, transform=transform)
    image, label = found[2]
    np.testing.assert_allclose(image[0], pixels[2] / 255, rtol=1e-6)
    assert label == 9
    assert found.data.dtype == torch.uint8
    assert found.data.shape == (3, 28, 28)


def test_the_demonstration():
    found = load_snippet("data/builtin_datasets.py")
    assert found.x.shape == (8, 1, 28, 28)
    assert [label for _, label in found.test_set] == list(range(8))


def test_cifar_unpacked(tmp_path, monkeypatch):
    """Its files are compared by MD5, so that of a small one is given."""
    folder = tmp_path / "data/cifar-10-batches-py"
    folder.mkdir(parents=True)
    pixels = np.arange(3 * 32 * 32, dtype=np.uint8)
    part = {"data": pixels[None], "labels": [3]}
    (folder / "data_batch_1").write_bytes(pickle.dumps(part))
    (folder / "batches.meta").write_bytes(pickle.dumps({"label_names": ["cat"] * 10}))
    kind = datasets.CIFAR10
    monkeypatch.setattr(kind, "train_list", [["data_batch_1", None]])
    monkeypatch.setattr(kind, "meta", kind.meta | {"md5": None})
    monkeypatch.setattr(kind, "test_list", [])
    found = kind("data", train=True)
    assert found.data.shape == (1, 32, 32, 3)
    np.testing.assert_array_equal(found.data[0, :, :, 1].ravel(), pixels[1024:2048])
    assert kind.base_folder == "cifar-10-batches-py"
    assert kind.filename == "cifar-10-python.tar.gz"
    assert datasets.CIFAR100.base_folder == "cifar-100-python"


def test_an_archive_that_is_there_is_unpacked_and_not_downloaded(tmp_path, monkeypatch):
    """Of CIFAR-10; nothing reads its pixels."""
    kind = datasets.CIFAR10
    inner = tmp_path / kind.base_folder
    inner.mkdir()
    (inner / "test_batch").write_bytes(
        pickle.dumps({"data": np.zeros((1, 3072), dtype=np.uint8), "labels": [3]})
    )
    (inner / "batches.meta").write_bytes(pickle.dumps({"label_names": ["cat"] * 10}))
    (tmp_path / "data").mkdir()
    with tarfile.open(tmp_path / "data" / kind.filename, "w:gz") as archive:
        archive.add(inner, kind.base_folder)
    monkeypatch.setattr(kind, "tgz_md5", None)
    monkeypatch.setattr(kind, "meta", kind.meta | {"md5": None})
    monkeypatch.setattr(kind, "train_list", [])
    monkeypatch.setattr(kind, "test_list", [["test_batch", None]])
    with raises_as_documented(PAGE, "RuntimeError: Dataset not found or corrupted"):
        kind("data", train=False)
    assert kind("data", train=False, download=True).targets == [3]


def test_the_messages():
    with raises_as_documented(PAGE, "RuntimeError: Dataset not found. You can"):
        datasets.MNIST("nowhere")
    with raises_as_documented(PAGE, "RuntimeError: Dataset not found or corrupted"):
        datasets.CIFAR10("nowhere")
    raw = datasets.FakeData(4, (3, 8, 8), 10)
    with raises_as_documented(PAGE, "TypeError: default_collate: batch must contain"):
        next(iter(DataLoader(raw, 2)))


def test_without_a_network(monkeypatch):
    def unreachable(*_):
        raise socket.gaierror(-3, "Temporary failure in name resolution")

    monkeypatch.setattr(socket, "getaddrinfo", unreachable)
    with raises_as_documented(PAGE, "RuntimeError: Error downloading train-images"):
        datasets.MNIST("data", download=True)
    with raises_as_documented(PAGE, "URLError: <urlopen error"):
        datasets.CIFAR10("data", download=True)


def test_the_variants():
    steps = [v2.ToImage(), v2.RGB(), v2.Resize(224)]
    transform = v2.Compose([*steps, v2.ToDtype(torch.float32, scale=True)])
    raw = datasets.FakeData(2, (1, 28, 28), 10)
    gray = v2.functional.to_pil_image(torch.zeros(1, 28, 28))
    assert transform(gray).shape == (3, 224, 224)
    assert len(raw) == 2
