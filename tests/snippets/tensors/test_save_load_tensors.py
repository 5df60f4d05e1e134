"""save-load-tensors: files read back by NumPy and zipfile, views, bad input."""

import zipfile
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from tests.chains.pasted import answer
from tests.helpers import load_snippet, raises_as_documented

PAGE = "tensors/save-load-tensors"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """An empty folder to write into."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def numbers(path) -> int:
    """How many float32 or int64 bytes the storages of a file hold."""
    with zipfile.ZipFile(path) as archive:
        return sum(i.file_size for i in archive.infolist() if "/data/" in i.filename)


def test_the_files_of_the_snippet():
    snippet = load_snippet("tensors/save_load_tensors.py")
    assert sorted(snippet.data) == ["x", "y"]
    assert torch.equal(snippet.data["y"], torch.arange(1000))
    assert numbers("data.pt") == 1000 * 300 * 4 + 1000 * 8
    assert numbers("view.pt") == 1000 * 300 * 4
    assert numbers("ten.pt") == 10 * 300 * 4
    ten = torch.load("ten.pt", weights_only=True)
    assert torch.equal(ten, snippet.x[:10])
    assert torch.equal(torch.load("view.pt", weights_only=True), ten)
    array = np.load("x.npy")
    assert array.dtype == np.float32
    np.testing.assert_array_equal(array, snippet.x.numpy())
    assert torch.equal(snippet.back, snippet.x)


def test_the_answer_run_twice_keeps_each_dtype():
    for dtype in (torch.bfloat16, torch.bool, torch.complex64):
        names = {"x": torch.ones(3, dtype=dtype), "y": torch.tensor(7)}
        exec(answer("save-load-tensors"), names)
        assert torch.equal(names["data"]["x"], names["x"])
        assert names["data"]["x"].dtype == dtype
        assert names["data"]["y"].shape == ()


def test_a_device_is_chosen_when_loading():
    load_snippet("tensors/save_load_tensors.py")
    loaded = torch.load("data.pt", map_location="meta", weights_only=True)
    assert loaded["x"].device.type == "meta"


def test_shared_memory_is_saved_once_and_stays_shared():
    x = torch.zeros(100, 50)
    torch.save(list(x), "rows.pt")
    assert numbers("rows.pt") == 100 * 50 * 4
    torch.save({"a": x, "b": x[0]}, "shared.pt")
    loaded = torch.load("shared.pt", weights_only=True)
    loaded["b"].fill_(1)
    assert loaded["a"].sum() == 50


def test_requires_grad_is_kept():
    out = torch.nn.Linear(3, 2)(torch.ones(1, 3))
    torch.save(out, "out.pt")
    assert torch.load("out.pt", weights_only=True).requires_grad
    torch.save(out.detach(), "out.pt")
    assert not torch.load("out.pt", weights_only=True).requires_grad
    with raises_as_documented(PAGE, "RuntimeError: Can't call numpy()"):
        np.save("out.npy", out)
    np.save("out.npy", out.numpy(force=True))


def test_arrays_in_the_file():
    torch.save({"a": np.zeros(2)}, "array.pt")
    with raises_as_documented(PAGE, "UnpicklingError: Weights only load failed. This"):
        torch.load("array.pt", weights_only=True)
    torch.save({"a": torch.from_numpy(np.zeros(2))}, "array.pt")
    assert torch.load("array.pt", weights_only=True)["a"].dtype == torch.float64
    np.save("array.npy", np.zeros(2))
    with raises_as_documented(PAGE, "UnpicklingError: Weights only load failed. In"):
        torch.load("array.npy", weights_only=True)


def test_what_is_refused():
    with raises_as_documented(PAGE, "RuntimeError: Parent directory features"):
        torch.save(torch.zeros(2), "features/train/x.pt")
    Path("features/train/x.pt").parent.mkdir(parents=True, exist_ok=True)
    torch.save(torch.zeros(2), "features/train/x.pt")
    with raises_as_documented(PAGE, "TypeError: Got unsupported"):
        np.save("x.npy", torch.zeros(2, dtype=torch.bfloat16).numpy())
    with raises_as_documented(PAGE, "ValueError: Expected a dict"):
        save_file(torch.zeros(2), "x.safetensors")


def test_variants():
    x = torch.rand(4, 3)
    save_file({"x": x.T.contiguous()}, "x.safetensors")
    assert torch.equal(load_file("x.safetensors")["x"], x.T)
    torch.save(x, "x.pt")
    assert torch.equal(torch.load("x.pt", mmap=True, weights_only=True), x)
    np.savetxt("x.csv", x.numpy(force=True), delimiter=",")
    read = np.loadtxt("x.csv", delimiter=",")
    np.testing.assert_allclose(read, x.numpy(), rtol=1e-6)
