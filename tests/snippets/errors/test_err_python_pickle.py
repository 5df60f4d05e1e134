"""err-python-pickle: files as Python 2, or a module of another name, wrote them."""

import collections
import pathlib
import pickle
import sys
import threading
import types
from pathlib import Path

import numpy as np
import pytest
import torch

from tests.helpers import load_snippet, quoted, raises_as_documented, recipes

PAGE = "errors/err-python-pickle"
PYTHON_2 = b"\x80\x02}U\x04dataU\x02\x8b\xe9s."


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    yield
    sys.modules.pop("old_package", None)


def test_each_line_of_the_answer_is_needed():
    snippet = load_snippet("errors/err_python_pickle.py")
    assert snippet.data == collections.Counter("aab")
    plain = pickle.loads(Path("plain.pkl").read_bytes())
    assert type(plain) is dict
    assert plain == snippet.data
    del sys.modules["old_package"]
    with raises_as_documented(PAGE, "ModuleNotFoundError: No module named 'old"):
        pickle.loads(snippet.old)


def test_a_whole_model_whose_module_has_moved(monkeypatch):
    """As many old checkpoints are: torch.load, and a class of the project's own."""
    there = types.ModuleType("old_package")

    class Net(torch.nn.Linear):
        __module__, __qualname__ = "old_package", "Net"

    there.Net = Net
    monkeypatch.setitem(sys.modules, "old_package", there)
    torch.save(Net(2, 3), "model.pt")
    del sys.modules["old_package"]
    with raises_as_documented(PAGE, "ModuleNotFoundError: No module named 'old"):
        torch.load("model.pt", weights_only=False)
    answer = recipes()["err-python-pickle"].answer
    assert list(answer.yours) == ["new_module"]
    moved = types.SimpleNamespace(Net=Net)
    assert "encoding" not in answer.code  # another cause, another fix
    first, _, _ = answer.code.partition("\n")
    exec(first, {"sys": sys, "new_module": moved})
    assert torch.load("model.pt", weights_only=False).weight.shape == (3, 2)


def test_encodings():
    with raises_as_documented(PAGE, "UnicodeDecodeError: 'ascii' codec"):
        pickle.loads(PYTHON_2)
    assert pickle.loads(PYTHON_2, encoding="bytes") == {b"data": b"\x8b\xe9"}
    text = pickle.loads(PYTHON_2, encoding="latin1")["data"]
    image = np.frombuffer(text.encode("latin1"), "u1")
    np.testing.assert_array_equal(image, [139, 233])


def test_text_and_keys():
    written = "\u5f20".encode("gbk")
    content = b"\x80\x02U" + bytes([len(written)]) + written + b"."
    assert pickle.loads(content, encoding="gbk") == "\u5f20"
    assert pickle.loads(content, encoding="latin1").encode("latin1") == written
    with pytest.raises(KeyError, match="'data'"):
        pickle.loads(PYTHON_2, encoding="bytes")["data"]


def test_torch_load_takes_the_encoding(tmp_path):
    """In the format of PyTorch 1.5 and older: five pickles in a row."""
    info = {"protocol_version": 1001, "little_endian": True, "type_sizes": {}}
    start = (torch.serialization.MAGIC_NUMBER, 1001, info)
    content = b"".join(pickle.dumps(part, protocol=2) for part in start)
    path = tmp_path / "old.pt"
    path.write_bytes(content + PYTHON_2 + pickle.dumps([], protocol=2))
    with pytest.raises(UnicodeDecodeError, match="'utf-8' codec can't decode"):
        torch.load(path, weights_only=False)
    loaded = torch.load(path, weights_only=False, encoding="latin1")
    assert loaded == {"data": "\x8b\xe9"}


def test_opened_as_text(tmp_path):
    path = tmp_path / "data.pkl"
    path.write_bytes(PYTHON_2)
    with (
        raises_as_documented(PAGE, "UnicodeDecodeError: 'utf-8' codec"),
        path.open(encoding="utf-8") as file,
    ):
        pickle.load(file)


def test_a_class_of_the_script_that_saved_it(monkeypatch):
    main = types.ModuleType("__main__")
    monkeypatch.setitem(sys.modules, "__main__", main)
    content = b"\x80\x02c__main__\nVocab\n."
    with raises_as_documented(PAGE, "AttributeError: Can't get attribute 'Vocab'"):
        pickle.loads(content)
    main.Vocab = dict
    assert pickle.loads(content) is dict


class Again:
    """Defined once more below."""


first = Again


class Again:
    """As a notebook cell that was run twice."""


@pytest.mark.parametrize(
    ("start", "save"),
    [
        ("TypeError: cannot pickle '_thread.lock'", threading.Lock),
        ("TypeError: cannot pickle 'generator'", lambda: (x for x in "ab")),
        ("PicklingError: Can't pickle <class", first),
    ],
)
def test_what_cannot_be_saved(start, save):
    with raises_as_documented(PAGE, start):
        pickle.dumps(save())


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="newer Pythons reword it")
def test_a_function_inside_a_function():
    with raises_as_documented(PAGE, "AttributeError: Can't pickle local"):
        pickle.dumps(lambda: None)


class OfWindows:
    def __reduce__(self):
        return pathlib.WindowsPath, ("runs", "best.pt")


def test_a_path_of_another_system(monkeypatch):
    content = pickle.dumps({"path": OfWindows()})
    with raises_as_documented(PAGE, "NotImplementedError: cannot instantiate"):
        pickle.loads(content)
    monkeypatch.setattr(pathlib, "WindowsPath", pathlib.PosixPath)
    assert pickle.loads(content) == {"path": Path("runs/best.pt")}


def test_a_number_of_numpy_2_names_a_module_that_numpy_1_lacks():
    content = pickle.dumps(np.float64(0.5), protocol=2)
    message = quoted(PAGE, "ModuleNotFoundError: No module named 'numpy")
    assert message.split("'")[1].encode() in content


def test_a_newer_protocol():
    with raises_as_documented(PAGE, "ValueError: unsupported pickle protocol"):
        pickle.loads(b"\x80\x06N.")


def test_a_layer_that_lacks_a_newer_attribute():
    """As PyTorch 1.11 to 2.0 left it; since 2.1 loading adds what is missing."""
    layer = torch.nn.Upsample(scale_factor=2)
    del layer.recompute_scale_factor
    x = torch.rand(1, 1, 2, 2)
    with raises_as_documented(PAGE, "AttributeError: 'Upsample'"):
        layer(x)
    assert pickle.loads(pickle.dumps(layer))(x).shape == (1, 1, 4, 4)
    layer.recompute_scale_factor = None
    assert layer(x).shape == (1, 1, 4, 4)
