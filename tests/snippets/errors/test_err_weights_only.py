"""err-weights-only: each cause of the table, refused and loaded."""

import argparse
import collections
import dataclasses
import datetime
import enum
import os
import pathlib
import pickle
import zipfile
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn
from torch.serialization import (
    add_safe_globals,
    clear_safe_globals,
    get_safe_globals,
    get_unsafe_globals_in_checkpoint,
    safe_globals,
)

from tests.helpers import load_snippet, raises_as_documented

PAGE = "errors/err-weights-only"
SCALAR = [np._core.multiarray.scalar, np.dtype, np.dtypes.Float64DType]


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD", raising=False)


def save(extra):
    torch.save({"w": torch.ones(3), "extra": extra}, "model.pt")


def load(**options):
    return torch.load("model.pt", **options)["extra"]


def refused():
    """What the end of the message says."""
    with pytest.raises(pickle.UnpicklingError, match="Weights only") as caught:
        load(weights_only=True)
    return str(caught.value)


def test_the_snippet_allows_one_class_and_then_needs_none(capsys):
    snippet = load_snippet("errors/err_weights_only.py")
    printed = capsys.readouterr().out.splitlines()
    assert printed[0].startswith("Weights only load failed. This file can still be")
    assert printed[1:] == ["['argparse.Namespace']", "{'lr': 0.1}"]
    clean = torch.load("clean.pt", weights_only=True)
    assert list(clean) == ["model_state_dict", "args"]
    for key, value in clean["model_state_dict"].items():
        assert torch.equal(value, snippet.weights[key])
    assert get_unsafe_globals_in_checkpoint("clean.pt") == []
    with pytest.raises(pickle.UnpicklingError):  # not allowed for good
        torch.load("old.pt", weights_only=True)


def test_the_default_is_to_refuse():
    save(argparse.Namespace(lr=0.1))
    for options in ({}, {"weights_only": True}):
        with raises_as_documented(
            PAGE, "UnpicklingError: Weights only load failed. This file"
        ) as caught:
            load(**options)
        assert "GLOBAL argparse.Namespace was not an allowed" in str(caught.value)
    assert load(weights_only=False).lr == 0.1


def test_a_whole_model():
    save(nn.Linear(4, 2))
    assert "GLOBAL torch.nn.modules.linear.Linear was not" in refused()
    assert load(weights_only=False).state_dict().keys() == {"weight", "bias"}


def test_a_path():
    save(Path("a"))
    assert f"GLOBAL pathlib.{type(pathlib.Path()).__name__} was not" in refused()


def test_allowed_for_the_whole_program():
    save(argparse.Namespace(lr=0.1))
    before = get_safe_globals()
    add_safe_globals([argparse.Namespace])
    try:
        assert argparse.Namespace in get_safe_globals()
        assert load(weights_only=True).lr == 0.1
    finally:
        clear_safe_globals()
        add_safe_globals(before)
    refused()


@pytest.mark.parametrize(
    "value",
    [
        {"a": [1, 2.5, "text", True, None, (1, 2), {3}]},
        collections.OrderedDict(a=1),
        collections.Counter("aab"),
        torch.Size([2, 3]),
        torch.bfloat16,
        torch.device("cpu"),
    ],
)
def test_what_needs_no_permission(value):
    save(value)
    loaded = load(weights_only=True)
    assert loaded == value
    assert type(loaded) is type(value)


def test_state_dicts_need_no_permission():
    model = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
    optimizer = torch.optim.AdamW(model.parameters())
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 3)
    model(torch.rand(4, 2)).sum().backward()
    optimizer.step()
    scheduler.step()
    save([part.state_dict() for part in (model, optimizer, scheduler)])
    weights, states, rates = load(weights_only=True)
    torch.testing.assert_close(weights, model.state_dict())
    assert states["state"][0]["step"] == 1
    assert rates["last_epoch"] == 1


class Kind(enum.Enum):
    """An enumeration of the user's."""

    A = 1


@dataclasses.dataclass
class Config:
    """A dataclass of the user's."""

    lr: float = 0.1


@pytest.mark.parametrize(
    "value",
    [
        collections.defaultdict(int),
        collections.deque([1]),
        datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC),
        Kind.A,
        Config(),
    ],
)
def test_what_needs_permission(value):
    save(value)
    assert type(value).__name__ in refused()


def test_a_number_of_numpy_needs_three_names():
    save(np.float64(0.5))
    assert "GLOBAL numpy._core.multiarray.scalar was not" in refused()
    assert set(get_unsafe_globals_in_checkpoint("model.pt")) == {
        "numpy._core.multiarray.scalar", "numpy.dtype",
    }  # fmt: skip
    for count in (1, 2):
        with safe_globals(SCALAR[:count]):
            reason = refused()
    assert "Can only build Tensor, Parameter, OrderedDict or types" in reason
    with safe_globals(SCALAR):
        assert load(weights_only=True) == 0.5
    save(float(np.float64(0.5)))
    assert load(weights_only=True) == 0.5


def test_an_array_and_float32():
    array = [np._core.multiarray._reconstruct, np.ndarray, *SCALAR[1:]]
    save(np.ones(3))
    assert "GLOBAL numpy._core.multiarray._reconstruct was not" in refused()
    for count in range(4):
        with safe_globals(array[:count]):
            refused()
    with safe_globals(array):
        assert load(weights_only=True).tolist() == [1, 1, 1]
    save(np.float32(0.5))
    with safe_globals(SCALAR):
        assert "Float32DType" in refused()
    with safe_globals([*SCALAR[:2], np.dtypes.Float32DType]):
        assert load(weights_only=True) == 0.5


def test_a_file_from_numpy_1():
    save(np.float64(0.5))
    with zipfile.ZipFile("model.pt") as new, zipfile.ZipFile("old.pt", "w") as old:
        for name in new.namelist():
            old.writestr(name, new.read(name).replace(b"numpy._core.", b"numpy.core."))
    os.replace("old.pt", "model.pt")  # noqa: PTH105
    with safe_globals(SCALAR):
        assert "GLOBAL numpy.core.multiarray.scalar was not" in refused()
    with safe_globals([(SCALAR[0], "numpy.core.multiarray.scalar"), *SCALAR[1:]]):
        assert load(weights_only=True) == 0.5


def test_no_checkpoint_and_a_plain_pickle():
    for content, operand in ((b"<html>", 60), (b"version https", 118), (b"\n<", 10)):
        Path("model.pt").write_bytes(content)
        with raises_as_documented(
            PAGE, "UnpicklingError: Weights only load failed. In PyTorch 2.6"
        ) as caught:
            load()
        assert f"Unsupported operand {operand}\n" in str(caught.value)


@pytest.mark.filterwarnings("ignore:Detected pickle protocol")
def test_a_plain_pickle():
    Path("model.pt").write_bytes(pickle.dumps({"extra": 1}, protocol=4))
    assert "Unsupported operand 149\n" in refused()
    assert pickle.loads(Path("model.pt").read_bytes()) == {"extra": 1}


class Calls:
    """A pickle that calls a function when it is loaded."""

    def __init__(self, *call):
        self.call = call

    def __reduce__(self):
        return self.call[0], self.call[1:]


def test_attacks_are_refused_and_do_not_run():
    save(Calls(os.system, "touch attacked"))
    module = os.system.__module__
    assert f"{module}.system whose module {module} is blocked" in refused()
    assert get_unsafe_globals_in_checkpoint("model.pt") == [f"{module}.system"]
    save(Calls(eval, "open('attacked', 'w').close()"))
    assert "GLOBAL eval was not an allowed global" in refused()
    assert not Path("attacked").exists()
    load(weights_only=False)
    assert Path("attacked").exists()


def test_the_environment_variable(monkeypatch):
    monkeypatch.setenv("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD", "1")
    save(argparse.Namespace(lr=0.1))
    with pytest.warns(UserWarning, match="TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD"):
        assert load().lr == 0.1
    assert "argparse.Namespace" in refused()  # it says weights_only=True


def test_the_other_messages():
    save(1)
    with raises_as_documented(PAGE, "RuntimeError: Can not safely load weights"):
        load(weights_only=True, pickle_module=pickle)
    torch.save({"w": 1}, "model.pt", _use_new_zipfile_serialization=False)
    with raises_as_documented(PAGE, "ValueError: Expected input to be a checkpoint"):
        get_unsafe_globals_in_checkpoint("model.pt")


@pytest.mark.filterwarnings("ignore:.*torch.jit")
def test_a_torchscript_archive():
    torch.jit.save(torch.jit.trace(nn.Linear(2, 2), torch.ones(1, 2)), "model.pt")
    with raises_as_documented(PAGE, "RuntimeError: Cannot use ``weights_only=True``"):
        load()
