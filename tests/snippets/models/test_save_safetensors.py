"""safetensors: the file read by hand from its format; each pitfall."""

import json
import re

import numpy as np
import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, load_model, save_file, save_model
from torch import nn

from tests.helpers import (
    ROOT,
    assert_documented,
    load_snippet,
    raises_as_documented,
)

PAGE = "models/safetensors"


@pytest.fixture
def snippet(tmp_path, monkeypatch):
    """The snippet, run in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return load_snippet("models/save_safetensors.py")


def read(path) -> tuple[dict, dict]:
    """The arrays and the metadata: 8 bytes of length, JSON, then numbers."""
    data = path.read_bytes()
    end = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:end])
    metadata, arrays = header.pop("__metadata__", {}), {}
    for name, entry in header.items():
        assert entry["dtype"] == "F32"
        first, last = entry["data_offsets"]
        numbers = np.frombuffer(data[end + first : end + last], np.float32)
        arrays[name] = numbers.reshape(entry["shape"])
    return arrays, metadata


class Tied(nn.Module):
    """A language model's usual pair: one weight, two names."""

    def __init__(self):
        super().__init__()
        self.embedding, self.head = nn.Embedding(4, 2), nn.Linear(2, 4, bias=False)
        self.head.weight = self.embedding.weight


def test_both_files_hold_the_weights(snippet, tmp_path):
    for name in ("model", "converted"):
        arrays, metadata = read(tmp_path / f"{name}.safetensors")
        assert metadata == {}
        assert set(arrays) == {"weight", "bias"}
        for key, tensor in snippet.model.state_dict().items():
            np.testing.assert_array_equal(arrays[key], tensor.numpy())
    assert torch.equal(snippet.bias, snippet.model.bias)


def test_what_is_printed(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    load_snippet("models/save_safetensors.py")
    assert capsys.readouterr().out == "['bias', 'weight']\n"


def test_metadata_and_bfloat16(tmp_path):
    path, state = tmp_path / "a.safetensors", nn.Linear(4, 2).bfloat16().state_dict()
    save_file(state, path, metadata={"epoch": "3"})
    with safe_open(path, framework="pt") as file:
        assert file.metadata() == {"epoch": "3"}
    assert load_file(path)["weight"].dtype == torch.bfloat16


def test_what_is_loaded_goes_into_a_new_model(snippet):
    model = nn.Linear(4, 2)
    model.load_state_dict(load_file("model.safetensors"))
    assert torch.equal(model.weight, snippet.model.weight)


def test_tied_weights(tmp_path, snippet):
    tied = Tied()
    with pytest.raises(RuntimeError) as caught:
        save_file(tied.state_dict(), "tied.safetensors")
    raised = "RuntimeError: " + re.sub(r"^\s+", "", str(caught.value))
    assert_documented(PAGE, "RuntimeError: Some tensors share memory", raised)
    save_model(tied, "tied.safetensors")
    assert list(read(tmp_path / "tied.safetensors")[0]) == ["embedding.weight"]
    other = Tied()
    load_model(other, "tied.safetensors")
    assert torch.equal(other.head.weight, tied.embedding.weight)
    with pytest.raises(RuntimeError, match="Missing key"):
        Tied().load_state_dict(load_file("tied.safetensors"))


def test_the_conversion_of_tied_and_transposed_weights(tmp_path, monkeypatch):
    """The snippet's conversion, of a file that another model has written."""
    state = Tied().state_dict()
    state["transposed"] = torch.randn(2, 3).T
    save = torch.save
    monkeypatch.setattr(torch, "save", lambda _, path: save(state, path))
    monkeypatch.chdir(tmp_path)
    load_snippet("models/save_safetensors.py")
    arrays, _ = read(tmp_path / "converted.safetensors")
    assert set(arrays) == set(state)
    for name, tensor in state.items():
        np.testing.assert_array_equal(arrays[name], tensor.numpy())


def test_a_transposed_tensor():
    with raises_as_documented(PAGE, "ValueError: You are trying to save a non cont"):
        save_file({"a": torch.randn(2, 3).T}, "x.safetensors")


def test_a_channels_last_model_by_save_model(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    model = nn.Conv2d(3, 8, 2).to(memory_format=torch.channels_last)
    with pytest.raises(ValueError, match="non contiguous tensor: `weight`"):
        save_file(model.state_dict(), "x.safetensors")
    save_model(model, "x.safetensors")
    written = read(tmp_path / "x.safetensors")[0]["weight"]
    np.testing.assert_array_equal(written, model.weight.detach().numpy())


def test_the_conversion_of_a_training_checkpoint(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "snippets/models/save_safetensors.py").read_text("utf-8")
    weights = {"a": torch.ones(2)}
    torch.save({"epoch": 3, "model_state_dict": weights}, "checkpoint.pth")
    text = text[text.index("state = torch.load") :].replace(
        "model.pth", "checkpoint.pth"
    )
    names = {"torch": torch, "save_file": save_file}
    with pytest.raises(AttributeError, match="'int' object has no attribute 'clone'"):
        exec(text, names)
    first, rest = text.split("\n", 1)
    exec(f'{first}\nstate = state["model_state_dict"]\n{rest}', names)
    torch.testing.assert_close(load_file("converted.safetensors"), weights)


def test_only_tensors(snippet):
    state = snippet.model.state_dict()
    with raises_as_documented(PAGE, "ValueError: Key `model` is invalid"):
        save_file({"model": state}, "x.safetensors")


def test_the_device_is_text(snippet):
    with raises_as_documented(PAGE, "SafetensorError: device device(type='cpu')"):
        load_file("model.safetensors", device=torch.device("cpu"))


def test_metadata_is_text(snippet):
    with raises_as_documented(PAGE, "TypeError: argument 'metadata'"):
        save_file({"a": snippet.bias}, "x.safetensors", metadata={"epoch": 3})


def test_files_of_another_kind(snippet, tmp_path):
    with raises_as_documented(
        PAGE, "SafetensorError: Error while deserializing header: header"
    ):
        load_file("model.pth")
    whole = (tmp_path / "model.safetensors").read_bytes()
    (tmp_path / "half.safetensors").write_bytes(whole[:-9])
    with raises_as_documented(
        PAGE, "SafetensorError: Error while deserializing header: incom"
    ):
        load_file("half.safetensors")


def test_the_optimizer_is_not_only_tensors(snippet):
    optimizer = torch.optim.Adam(snippet.model.parameters())
    with pytest.raises(ValueError, match="is invalid, expected"):
        save_file(optimizer.state_dict(), "x.safetensors")
