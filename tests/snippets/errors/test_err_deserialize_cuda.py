"""err-deserialize-cuda: files whose storages are tagged with devices that lack."""

import functools
import io
import pickle

import pytest
import torch
import torch.storage
from safetensors.torch import load_file, save_file
from torch import nn

from tests.helpers import ROOT, load_snippet, raises_as_documented, run_on

PAGE = "errors/err-deserialize-cuda"
SOURCE = (ROOT / "snippets/errors/err_deserialize_cuda.py").read_text("utf-8")
FIX = compile(SOURCE[SOURCE.index("weights =") :].split("\n\n")[0], PAGE, "exec")


@pytest.fixture(autouse=True)
def _no_gpu(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)


@pytest.fixture
def tagged(monkeypatch):
    """Save as another device would; give the function, and the weights."""
    weights = nn.Linear(4, 2).state_dict()

    def save(location, content=None, write=torch.save):
        with monkeypatch.context() as patch:
            patch.setattr(torch.serialization, "location_tag", lambda _: location)
            write(weights if content is None else content, "gpu.pt")

    return save, weights


def load(**options):
    return torch.load("gpu.pt", weights_only=True, **options)


def test_the_snippet_raises_it_and_loads(capsys):
    snippet = load_snippet("errors/err_deserialize_cuda.py")
    assert snippet.gpu == "cuda:0"
    assert capsys.readouterr().out.splitlines() == [
        "error: Attempting to deserialize object", "loaded from the cpu",
    ]  # fmt: skip
    assert torch.equal(snippet.model.bias, snippet.trained.bias)
    with raises_as_documented(
        PAGE, "RuntimeError: Attempting to deserialize object on a CUDA"
    ):
        load()


@pytest.mark.parametrize("location", ["cuda:0", "cuda:7", "mps", "npu:0", "xpu:0"])
@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_the_fix_reads_it_from_any_device(tagged, location, device):
    save, weights = tagged
    save(location)
    model = nn.Linear(4, 2)
    names = {"torch": torch, "model": model, "device": device}
    exec(FIX, names)
    assert names["weights"]["weight"].device.type == "cpu"
    assert torch.equal(names["weights"]["bias"], weights["bias"])
    assert model.weight.device == torch.device(device)
    if device == "cpu":
        assert torch.equal(model.weight, weights["weight"])


def test_the_model_moves_to_the_gpu_where_there_is_one(monkeypatch):
    with pytest.raises(NotImplementedError, match="meta tensor; no data"):
        run_on("meta", "errors/err_deserialize_cuda.py", monkeypatch)


def test_fewer_gpus(tagged, monkeypatch):
    tagged[0]("cuda:1")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    for options in ({}, {"map_location": "cuda:1"}):
        with raises_as_documented(
            PAGE, "RuntimeError: Attempting to deserialize object on CUDA"
        ):
            load(**options)


def test_code_that_asks_for_a_gpu_itself(tagged):
    tagged[0]("cpu")
    with raises_as_documented(
        PAGE, "RuntimeError: Attempting to deserialize object on a CUDA"
    ):
        load(map_location="cuda")


def test_other_devices(tagged, monkeypatch):
    save, _ = tagged
    monkeypatch.setattr(torch.xpu, "is_available", lambda: False)
    save("xpu:0")
    with raises_as_documented(
        PAGE, "RuntimeError: Attempting to deserialize object on a XPU"
    ):
        load()
    save("npu:0")
    with raises_as_documented(PAGE, "RuntimeError: don't know how to restore"):
        load()


@pytest.mark.skipif(torch.backends.mps.is_built(), reason="a build with MPS")
def test_a_file_from_a_mac(tagged):
    tagged[0]("mps")
    with raises_as_documented(PAGE, "RuntimeError: torch.UntypedStorage(): Storage"):
        load()


def test_a_device_context_does_not_help(tagged):
    tagged[0]("cuda:0")
    with torch.device("cpu"), pytest.raises(RuntimeError, match="on a CUDA device"):
        load()


def test_a_library_that_names_no_device(tagged, monkeypatch):
    save, weights = tagged
    save("cuda:0")
    patched = functools.partial(torch.load, map_location="cpu")
    monkeypatch.setattr(torch, "load", patched)
    assert torch.equal(load()["weight"], weights["weight"])
    assert load(map_location="meta")["weight"].device.type == "meta"


def test_a_pickle(tagged, monkeypatch):
    save, weights = tagged

    def dump(content, path):
        with open(path, "wb") as file:  # noqa: PTH123
            pickle.dump(content, file)

    save("cuda:0", write=dump)
    with open("gpu.pt", "rb") as file:  # noqa: PTH123
        content = file.read()
    with pytest.raises(RuntimeError, match="on a CUDA device") as caught:
        pickle.loads(content)
    assert "_load_from_bytes" in [entry.name for entry in caught.traceback]
    monkeypatch.setattr(
        torch.storage,
        "_load_from_bytes",
        lambda b: torch.load(io.BytesIO(b), map_location="cpu", weights_only=False),
    )
    assert torch.equal(pickle.loads(content)["weight"], weights["weight"])


def test_a_checkpoint_and_a_whole_model(tagged):
    save, weights = tagged
    save("cuda:0", {"epoch": 1, "model_state_dict": weights})
    found = load(map_location="cpu")["model_state_dict"]
    nn.Linear(4, 2).load_state_dict(found)
    trained = nn.Linear(4, 2)
    save("cuda:0", trained)
    with pytest.raises(pickle.UnpicklingError):
        load(map_location="cpu")
    model = torch.load("gpu.pt", map_location="cpu", weights_only=False)
    assert torch.equal(model.weight, trained.weight)


def test_safetensors_note_no_device():
    save_file({"w": torch.ones(3)}, "w.safetensors")
    assert load_file("w.safetensors")["w"].device.type == "cpu"
