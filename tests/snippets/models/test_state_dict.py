"""state-dict: the file against the parameters, one by one; each pitfall."""

import copy
import runpy
import subprocess
import sys

import pytest
import torch
from torch import nn

from tests.helpers import ROOT, assert_documented, load_snippet, raises_as_documented

PAGE = "models/state-dict"
SNIPPET = "models/state_dict.py"
make_model = load_snippet(SNIPPET).make_model
WHOLE = """
import torch
from torch import nn

class Net(nn.Linear):
    pass

torch.save(Net(2, 2), "whole.pt")
"""


@pytest.fixture
def run(tmp_path, monkeypatch):
    """What the demonstration leaves behind, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return runpy.run_path(str(ROOT / "snippets" / SNIPPET), run_name="__main__")


def test_the_new_model_has_every_number(run):
    model, trained = run["model"], run["trained"]
    tensors = [*trained.named_parameters(), *trained.named_buffers()]
    assert set(run["state"]) == {name for name, _ in tensors}
    for name, tensor in tensors:
        layer, _, attribute = name.partition(".")
        assert torch.equal(getattr(model[int(layer)], attribute), tensor)
        assert torch.equal(run["state"][name], tensor)
    assert not model.training
    assert model[0].weight is not trained[0].weight


def test_the_file_is_plain_and_on_the_cpu(run, tmp_path):
    state = torch.load(tmp_path / "model.pt", weights_only=True)
    assert list(state) == list(make_model().state_dict())
    assert all(tensor.device.type == "cpu" for tensor in run["state"].values())


def test_what_is_printed(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(ROOT / "snippets" / SNIPPET), run_name="__main__")
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "0.weight (8, 4)"
    assert lines[-1] == "2.bias (2,)"
    assert "1.running_mean (8,)" in lines
    assert len(lines) == 9


def test_a_dictionary_is_no_model(run, tmp_path):
    state = torch.load(tmp_path / "model.pt", weights_only=True)
    with raises_as_documented(PAGE, "AttributeError: 'collections.OrderedDict'"):
        state.eval()
    with raises_as_documented(PAGE, "TypeError: 'collections.OrderedDict' object"):
        state(run["x"])


def test_load_state_dict_returns_no_model(run):
    model = make_model().load_state_dict(run["state"])
    with raises_as_documented(PAGE, "AttributeError: '_IncompatibleKeys'"):
        model.eval()


def test_a_path_is_no_state_dict():
    with raises_as_documented(PAGE, "TypeError: Expected state_dict to be dict-like"):
        make_model().load_state_dict("model.pt")


def test_a_whole_model_needs_its_class(tmp_path, monkeypatch):
    """Saved by one script, loaded by another, as everybody does it."""
    monkeypatch.chdir(tmp_path)
    subprocess.run([sys.executable, "-c", WHOLE], check=True, timeout=120)
    with raises_as_documented(PAGE, "UnpicklingError: Weights only load failed."):
        torch.load("whole.pt", weights_only=True)
    load = "import torch; torch.load('whole.pt', weights_only=False)"
    done = subprocess.run(
        [sys.executable, "-c", load], capture_output=True, text=True, timeout=120
    )
    raised = done.stderr.splitlines()[-1]
    assert_documented(PAGE, "AttributeError: Can't get attribute 'Net'", raised)


def test_a_state_dict_shares_its_memory(run):
    model = make_model()
    best, copied = model.state_dict(), copy.deepcopy(model.state_dict())
    with torch.no_grad():
        model[0].bias.add_(1)
    assert torch.equal(best["0.bias"], model[0].bias)
    torch.testing.assert_close(copied["0.bias"] + 1, model[0].bias)


def test_tensors_that_are_only_attributes_are_not_saved():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = torch.ones(2)
            self.layers = [nn.Linear(2, 2)]
            self.register_buffer("mean", torch.ones(2))

    assert list(Net().state_dict()) == ["mean"]
