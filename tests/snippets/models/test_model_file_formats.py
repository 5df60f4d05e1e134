"""model-file-formats: each file opened by what is not meant for it, and by what is."""

import pickle
import shutil
import zipfile
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import nn

from tests.helpers import (
    assert_documented,
    load_snippet,
    raises_as_documented,
    recipes,
)

PAGE = "models/model-file-formats"
ANSWER = recipes()["model-file-formats"].answer


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def model():
    return nn.Sequential(nn.Linear(4, 2), nn.Dropout()).eval()


def exported(model) -> str:
    torch.export.save(torch.export.export(model, (torch.ones(1, 4),)), "model.pt2")
    return "model.pt2"


@pytest.mark.parametrize("make", [lambda: nn.Linear(3, 2), lambda: nn.BatchNorm1d(4)])
def test_both_files_of_the_answer_hold_every_number(make):
    model = make()
    before = {name: t.numpy().copy() for name, t in model.state_dict().items()}
    exec(ANSWER.text, {"model": model})
    for state in (
        torch.load("model.pt", weights_only=True),
        load_file("model.safetensors"),
        model.state_dict(),
    ):
        assert set(state) == set(before)
        for name, array in before.items():
            np.testing.assert_array_equal(state[name], array)


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.head = nn.Embedding(5, 4), nn.Linear(4, 5, bias=False)
        self.head.weight = self.embed.weight


def test_tied_weights_and_channels_last():
    with pytest.raises(RuntimeError) as caught:
        save_file(Tied().state_dict(), "tied.safetensors")
    raised = f"RuntimeError: {str(caught.value).lstrip()}"
    assert_documented(PAGE, "RuntimeError: Some tensors share memory", raised)
    last = nn.Conv2d(3, 4, 3).to(memory_format=torch.channels_last)
    for model, fresh in ((Tied(), Tied()), (last, nn.Conv2d(3, 4, 3))):
        exec(ANSWER.text, {"model": model})
        stored = load_file("model.safetensors")
        fresh.load_state_dict(stored, strict=len(stored) == len(fresh.state_dict()))
        for name, t in model.state_dict().items():
            np.testing.assert_array_equal(fresh.state_dict()[name], t)


@pytest.mark.parametrize("extension", ["pth", "ckpt", "bin", "anything"])
def test_the_extension_says_nothing(model, extension):
    torch.save(model.state_dict(), "model.pt")
    torch.save(model.state_dict(), f"model.{extension}")
    assert Path(f"model.{extension}").read_bytes() == Path("model.pt").read_bytes()


def test_the_demonstration():
    load_snippet("models/model_file_formats.py")
    assert zipfile.is_zipfile("model.pt")
    assert zipfile.is_zipfile("whole.pt")
    assert not zipfile.is_zipfile("model.safetensors")
    assert b"torch.nn.modules.linear" in zipfile.ZipFile("whole.pt").read(
        "whole/data.pkl"
    )
    with pytest.raises(pickle.UnpicklingError, match="Weights only load failed"):
        torch.load("whole.pt")
    assert isinstance(torch.load("whole.pt", weights_only=False), nn.Sequential)


def test_a_renamed_file_is_what_it_was(model):
    torch.save(model.state_dict(), "model.pth")
    shutil.move("model.pth", "model.safetensors")
    with raises_as_documented(PAGE, "SafetensorError: Error while") as caught:
        load_file("model.safetensors")
    assert caught.type is SafetensorError
    shutil.move("model.safetensors", "model.pth")
    state = torch.load("model.pth", weights_only=True)
    assert torch.equal(state["0.weight"], model[0].weight)


def test_pickle_and_torch_save_do_not_read_each_other(model):
    torch.save(model.state_dict(), "model.pt")
    with (
        Path("model.pt").open("rb") as file,
        raises_as_documented(PAGE, "UnpicklingError: A load persistent id"),
    ):
        pickle.load(file)
    Path("model.pkl").write_bytes(pickle.dumps(model.state_dict()))
    with raises_as_documented(PAGE, "RuntimeError: Invalid magic number"):
        torch.load("model.pkl", weights_only=False)
    state = pickle.loads(Path("model.pkl").read_bytes())
    assert torch.equal(state["0.weight"], model[0].weight)


@pytest.mark.filterwarnings("ignore:Exporting a model while it is in training")
def test_an_export_keeps_its_mode():
    model, x = nn.Sequential(nn.Linear(4, 64), nn.Dropout()), torch.randn(1, 4)

    def zeros() -> list[int]:
        loaded = torch.export.load(exported(model)).module()
        torch.onnx.export(model, (x,), verbose=False).save("model.onnx")
        session = onnxruntime.InferenceSession("model.onnx")
        (y,) = session.run(None, {session.get_inputs()[0].name: x.numpy()})
        return [(loaded(x) == 0).sum().item(), (y == 0).sum().item()]

    assert all(10 < count < 54 for count in zeros())
    model.eval()
    assert zeros() == [0, 0]


def test_an_exported_program_runs_and_keeps_its_mode(model):
    path, x = exported(model), torch.randn(1, 4)
    with raises_as_documented(
        PAGE, "RuntimeError: PytorchStreamReader failed locating file data.pkl"
    ):
        torch.load(path)
    program = torch.export.load(path)
    loaded = program.module()
    torch.testing.assert_close(loaded(x), x @ model[0].weight.T + model[0].bias)
    with raises_as_documented(PAGE, "NotImplementedError: Calling train()"):
        loaded.train()
    assert torch.equal(program.state_dict["0.weight"], model[0].weight)


@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_what_is_in_the_zip_files(model):
    def names(path: str) -> set[str]:
        return {n.partition("/")[2] for n in zipfile.ZipFile(path).namelist()}

    torch.save(model.state_dict(), "state.pt")
    torch.jit.trace(model, torch.ones(1, 4)).save("script.pt")
    special = {"data.pkl", "constants.pkl", "archive_format"}
    assert names("state.pt") & special == {"data.pkl"}
    assert names("script.pt") & special == {"data.pkl", "constants.pkl"}
    assert names(exported(model)) & special == {"archive_format"}
    torch.save(model.state_dict(), "old.pt", _use_new_zipfile_serialization=False)
    assert not zipfile.is_zipfile("old.pt")
    with raises_as_documented(
        PAGE, "RuntimeError: PytorchStreamReader failed locating file constants.pkl"
    ):
        torch.jit.load("state.pt")
    x = torch.randn(1, 4)
    assert torch.equal(torch.jit.load("script.pt")(x), model(x))


def test_onnx_runs_without_the_class(model):
    x = torch.randn(1, 4)
    torch.onnx.export(model.eval(), (x,), dynamo=True, verbose=False).save("model.onnx")
    assert not zipfile.is_zipfile("model.onnx")
    session = onnxruntime.InferenceSession("model.onnx")
    (y,) = session.run(None, {session.get_inputs()[0].name: x.numpy()})
    np.testing.assert_allclose(y, model(x).detach(), rtol=1e-5, atol=1e-6)
