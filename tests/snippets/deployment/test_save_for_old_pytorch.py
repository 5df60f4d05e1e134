"""save-for-old-pytorch: the file, read by hand as PyTorch 1.1 reads it."""

import pickle
import pickletools
import zipfile

import numpy as np
import pytest
import torch
from torch import nn

from tests.helpers import load_snippet, raises_as_documented

PAGE = "deployment/save-for-old-pytorch"
snippet = load_snippet("deployment/save_for_old_pytorch.py")
OLD_STORAGES = {  # the classes PyTorch 1.1 has, and what their bytes are
    "DoubleStorage": np.float64, "FloatStorage": np.float32, "HalfStorage": np.float16,
    "LongStorage": np.int64, "IntStorage": np.int32, "ShortStorage": np.int16,
    "CharStorage": np.int8, "ByteStorage": np.uint8, "BoolStorage": np.bool_,
}  # fmt: skip


class OldReader(pickle.Unpickler):
    """Knows what PyTorch 1.1 knows, and makes NumPy arrays."""

    def __init__(self, file):
        super().__init__(file)
        self.storages = {}

    def find_class(self, module, name):
        if module == "torch" and name in OLD_STORAGES:
            return OLD_STORAGES[name]
        if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
            return lambda *arguments: arguments
        if (module, name) == ("collections", "OrderedDict"):
            return dict
        raise AttributeError(f"PyTorch 1.1 has no {module}.{name}")

    def persistent_load(self, saved):
        kind, dtype, key, location, numel, view = saved
        assert (kind, location, view) == ("storage", "cpu", None)
        self.storages[key] = np.empty(numel, dtype)
        return self.storages[key]


def read_as_old(path) -> dict[str, np.ndarray]:
    """The legacy format: magic, version, system, object, keys, raw bytes."""
    with open(path, "rb") as file:  # noqa: PTH123
        assert pickle.load(file) == 0x1950A86A20F9469CFC6C
        assert pickle.load(file) == 1001
        assert pickle.load(file)["little_endian"]
        reader = OldReader(file)
        tensors = reader.load()
        for key in pickle.load(file):
            (numel,) = np.frombuffer(file.read(8), "<i8")
            storage = reader.storages[key]
            assert numel == storage.size
            storage[:] = np.frombuffer(file.read(storage.nbytes), storage.dtype)
        assert file.read() == b""
    arrays = {}
    for name, (storage, offset, size, stride, requires_grad, _) in tensors.items():
        assert requires_grad is False
        bytes_ = [step * storage.itemsize for step in stride]
        view = np.lib.stride_tricks.as_strided(storage[offset:], size, bytes_)
        arrays[name] = view.copy()
    return arrays


def read_npz(path) -> dict[str, np.ndarray]:
    with np.load(path) as arrays:
        return dict(arrays)


STATE = {
    "float64": torch.tensor([1 / 3, -0.0], dtype=torch.float64),
    "float16": torch.tensor([0.1, 65504.0], dtype=torch.float16),
    "int64": torch.tensor(2**62),  # 0-dim
    "int32": torch.tensor([-(2**31)], dtype=torch.int32),
    "int16": torch.tensor([-(2**15)], dtype=torch.int16),
    "int8": torch.tensor([-128, 127], dtype=torch.int8),
    "uint8": torch.tensor([255], dtype=torch.uint8),
    "bool": torch.tensor([True, False]),
    "empty": torch.empty(0, 3),
    "transposed": torch.arange(6.0).reshape(2, 3).T,
    "row": torch.arange(6.0).reshape(2, 3)[1],
    "channels_last": torch.randn(2, 3, 4, 5).to(memory_format=torch.channels_last),
    "parameter": nn.Parameter(torch.tensor([1.5, 2.5])),
}


@pytest.mark.parametrize("form", ["legacy", "npz"])
def test_every_type_in_both_forms(form, tmp_path):
    if form == "legacy":
        snippet.save_legacy(STATE, str(tmp_path / "w"))
        arrays = read_as_old(tmp_path / "w")
    else:
        snippet.save_npz(STATE, str(tmp_path / "w.npz"))
        arrays = read_npz(tmp_path / "w.npz")
    assert list(arrays) == list(STATE)
    for name, tensor in STATE.items():
        expected = tensor.detach().numpy()
        assert arrays[name].dtype == expected.dtype
        np.testing.assert_array_equal(arrays[name], expected, strict=True)


@pytest.mark.parametrize("form", ["legacy", "npz"])
def test_bfloat16_becomes_the_same_float32(form, tmp_path):
    weight = nn.Parameter(torch.tensor([[0.1, -3e38]], dtype=torch.bfloat16))
    if form == "legacy":
        snippet.save_legacy({"w": weight}, str(tmp_path / "w"))
        array = read_as_old(tmp_path / "w")["w"]
    else:
        snippet.save_npz({"w": weight}, str(tmp_path / "w.npz"))
        array = read_npz(tmp_path / "w.npz")["w"]
    assert array.dtype == np.float32
    assert array.tolist() == weight.tolist()


def test_the_legacy_file_is_no_zip_and_the_default_is(tmp_path):
    snippet.save_legacy(STATE, str(tmp_path / "legacy.pth"))
    torch.save(STATE, tmp_path / "default.pth")
    assert not zipfile.is_zipfile(tmp_path / "legacy.pth")
    assert zipfile.is_zipfile(tmp_path / "default.pth")
    with pytest.raises(pickle.UnpicklingError):
        read_as_old(tmp_path / "default.pth")


def test_nothing_newer_than_protocol_2(tmp_path):
    snippet.save_legacy(STATE, str(tmp_path / "legacy.pth"))
    with (tmp_path / "legacy.pth").open("rb") as file:
        for _ in range(5):  # the five pickles at its beginning
            operations = list(pickletools.genops(file))
            assert max(op.proto for op, _, _ in operations) == 2


def test_todays_loader_reads_it_safely(tmp_path):
    state = nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2)).state_dict()
    snippet.save_legacy(state, str(tmp_path / "legacy.pth"))
    loaded = torch.load(tmp_path / "legacy.pth", weights_only=True)
    fresh = nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2))
    fresh.load_state_dict(loaded)
    torch.testing.assert_close(fresh.state_dict(), state, rtol=0, atol=0)


def test_the_caller_keeps_its_tensors(tmp_path):
    weight = torch.ones(2, dtype=torch.bfloat16, requires_grad=True)
    state = {"w": weight}
    snippet.save_npz(state, str(tmp_path / "w.npz"))
    assert state["w"] is weight
    assert weight.dtype == torch.bfloat16


def test_npz_adds_its_ending(tmp_path):
    snippet.save_npz({"w": torch.ones(1)}, str(tmp_path / "weights"))
    assert (tmp_path / "weights.npz").exists()


def test_float8_is_for_neither(tmp_path):
    state = {"w": torch.ones(2).to(torch.float8_e4m3fn)}
    with pytest.raises(TypeError, match="unsupported ScalarType Float8"):
        snippet.save_npz(state, str(tmp_path / "w.npz"))
    snippet.save_legacy(state, str(tmp_path / "w"))
    with pytest.raises(AttributeError, match="_rebuild_tensor_v3"):
        read_as_old(tmp_path / "w")


def test_bfloat16_as_it_is_would_not_load(tmp_path):
    """The page quotes PyTorch 1.1, which lacks the class the file names."""
    state = {"w": torch.ones(2, dtype=torch.bfloat16)}
    torch.save(state, tmp_path / "w", _use_new_zipfile_serialization=False)
    with pytest.raises(AttributeError, match=r"torch\.BFloat16Storage"):
        read_as_old(tmp_path / "w")


def test_functions_that_pytorch_0_lacks(tmp_path, monkeypatch):
    state = {"w": nn.Parameter(torch.ones(2))}
    torch.save(state, tmp_path / "w", _use_new_zipfile_serialization=False)
    snippet.save_legacy(state, str(tmp_path / "portable"))
    monkeypatch.delattr(torch._utils, "_rebuild_parameter")  # as in 0.4
    with raises_as_documented(PAGE):
        torch.load(tmp_path / "w", weights_only=False)
    loaded = torch.load(tmp_path / "portable", weights_only=False)
    assert loaded["w"].tolist() == [1, 1]
    monkeypatch.delattr(torch._utils, "_rebuild_tensor_v2")  # as in 0.3
    with raises_as_documented(PAGE):
        torch.load(tmp_path / "portable", weights_only=False)


def test_a_numpy_scalar_names_numpys_new_module(tmp_path):
    state = {"accuracy": np.float64(0.9)}
    torch.save(state, tmp_path / "w", _use_new_zipfile_serialization=False)
    with pytest.raises(AttributeError, match=r"numpy\._core"):
        read_as_old(tmp_path / "w")


def test_mmap_needs_the_zip_format(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    snippet.save_legacy(STATE, "legacy.pth")
    with raises_as_documented(PAGE):
        torch.load("legacy.pth", mmap=True)


def test_typographic_quotes_are_not_python():
    with raises_as_documented(PAGE):
        compile("torch.save(state, “old.pth”)", "<page>", "exec")
