"""save-for-old-pytorch: the file, read by hand as PyTorch 1.1 reads it."""

import pickle
import pickletools
import zipfile

import numpy as np
import pytest
import torch
from torch import nn

from tests.helpers import ROOT, load_snippet, raises_as_documented

PAGE = "deployment/save-for-old-pytorch"
SOURCE = (ROOT / "snippets/deployment/save_for_old_pytorch.py").read_text("utf-8")
LINES = compile(SOURCE[SOURCE.index("state =") :].split("\n\n")[0], PAGE, "exec")
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


def save(state):
    """The snippet's own lines, for a model of these tensors; its files, read."""
    model = nn.Module()
    for name, tensor in state.items():
        is_parameter = isinstance(tensor, nn.Parameter)
        register = model.register_parameter if is_parameter else model.register_buffer
        register(name, tensor)
    exec(LINES, {"torch": torch, "np": np, "model": model})
    with np.load("weights.npz") as file:
        return read_as_old("legacy.pth"), dict(file)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


STATE = {
    "parameter": nn.Parameter(torch.tensor([1.5, 2.5])),
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
}


def test_every_type_in_both_forms():
    for arrays in save(STATE):
        assert list(arrays) == list(STATE)
        for name, tensor in STATE.items():
            expected = tensor.detach().numpy()
            np.testing.assert_array_equal(arrays[name], expected, strict=True)


def test_the_file_itself():
    snippet = load_snippet("deployment/save_for_old_pytorch.py")
    own = snippet.model.state_dict()
    for arrays in read_as_old("legacy.pth"), np.load("weights.npz"):
        assert sorted(arrays) == sorted(own)
        for name in own:
            expected = own[name].cpu().numpy()
            np.testing.assert_array_equal(arrays[name], expected, strict=True)
    torch.testing.assert_close(snippet.legacy, dict(own), rtol=0, atol=0)
    torch.testing.assert_close(snippet.from_npz, dict(own), rtol=0, atol=0)


class Elsewhere(nn.Module):
    """Its state dict has a tensor that only a copy to the CPU can give."""

    def state_dict(self):
        class OnGpu:
            def cpu(self):
                return torch.tensor([3.0])

        return {"w": OnGpu()}


def test_weights_on_a_gpu_are_copied_to_the_cpu():
    exec(LINES, {"torch": torch, "np": np, "model": Elsewhere()})
    assert read_as_old("legacy.pth")["w"].tolist() == [3]


def test_the_legacy_file_is_no_zip_and_the_default_is():
    save(STATE)
    torch.save(STATE, "default.pth")
    assert not zipfile.is_zipfile("legacy.pth")
    assert zipfile.is_zipfile("default.pth")
    with pytest.raises(pickle.UnpicklingError):
        read_as_old("default.pth")


def test_nothing_newer_than_protocol_2():
    save(STATE)
    with open("legacy.pth", "rb") as file:  # noqa: PTH123
        for _ in range(5):  # the five pickles at its beginning
            operations = list(pickletools.genops(file))
            assert max(op.proto for op, _, _ in operations) == 2


def test_bfloat16_needs_float_first():
    """The page quotes PyTorch 1.1, which lacks the class the file names."""
    model = nn.Linear(2, 1).bfloat16()
    state = model.state_dict()
    torch.save(state, "w", _use_new_zipfile_serialization=False)
    with pytest.raises(AttributeError, match=r"torch\.BFloat16Storage"):
        read_as_old("w")
    with raises_as_documented(PAGE, "TypeError: Got unsupported ScalarType"):
        save(state)
    expected = state["weight"].tolist()
    for arrays in save(model.float().state_dict()):
        assert arrays["weight"].dtype == np.float32
        assert arrays["weight"].tolist() == expected


def test_float8_is_for_neither():
    state = {"w": torch.ones(2).to(torch.float8_e4m3fn)}
    torch.save(state, "w", _use_new_zipfile_serialization=False)
    with pytest.raises(AttributeError, match="_rebuild_tensor_v3"):
        read_as_old("w")
    with pytest.raises(TypeError, match="unsupported ScalarType Float8"):
        save(state)


def test_functions_that_pytorch_0_lacks(monkeypatch):
    state = {"w": nn.Parameter(torch.ones(2))}
    torch.save(state, "w", _use_new_zipfile_serialization=False)
    save(state)
    monkeypatch.delattr(torch._utils, "_rebuild_parameter")  # as in 0.4
    with raises_as_documented(
        PAGE, "AttributeError: Can't get attribute '_rebuild_parameter'"
    ):
        torch.load("w", weights_only=False)
    loaded = torch.load("legacy.pth", weights_only=False)
    assert loaded["w"].tolist() == [1, 1]
    monkeypatch.delattr(torch._utils, "_rebuild_tensor_v2")  # as in 0.3
    with raises_as_documented(
        PAGE, "AttributeError: Can't get attribute '_rebuild_tensor_v2'"
    ):
        torch.load("legacy.pth", weights_only=False)


def test_a_numpy_scalar_names_numpys_new_module():
    """The message itself comes from NumPy 1."""
    state = {"accuracy": np.float64(0.9)}
    torch.save(state, "w", _use_new_zipfile_serialization=False)
    with pytest.raises(AttributeError, match=r"numpy\._core"):
        read_as_old("w")


def test_a_whole_model_names_its_classes():
    """The message itself comes from PyTorch 1.1, which has Flatten elsewhere."""
    torch.save(nn.Flatten(), "w", _use_new_zipfile_serialization=False)
    with pytest.raises(AttributeError, match=r"torch\.nn\.modules\.flatten"):
        read_as_old("w")


def test_mmap_needs_the_zip_format():
    save(STATE)
    with raises_as_documented(PAGE, "RuntimeError: mmap can only"):
        torch.load("legacy.pth", mmap=True)


def test_typographic_quotes_are_not_python():
    with raises_as_documented(PAGE, "SyntaxError: invalid character '“'"):
        compile("torch.save(state, “old.pth”)", "<page>", "exec")
