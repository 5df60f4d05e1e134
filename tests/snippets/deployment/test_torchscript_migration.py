"""torchscript-migration: the new file against NumPy, and what the old one refuses."""

import runpy

import numpy as np
import pytest
import torch
from torch import nn

from tests.helpers import assert_documented, load_snippet, raises_as_documented

PAGE = "deployment/torchscript-migration"
SNIPPET = "deployment/torchscript_migration.py"
snippet = load_snippet(SNIPPET)
X = torch.zeros(2, 8)

pytestmark = [
    pytest.mark.filterwarnings("ignore:`torch.jit"),
    pytest.mark.filterwarnings("ignore:The given buffer is not writable"),
    pytest.mark.filterwarnings("ignore:'torch.load' received a zip file"),
]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_the_new_file_computes_what_numpy_computes():
    names = runpy.run_path(snippet.__file__, run_name="__main__")
    assert not names["model"].training
    assert names["x"].shape == (2, 8)
    weights = torch.jit.load("old.pt").state_dict()
    w1, b1, w2, b2 = (t.numpy() for t in weights.values())
    assert (w1.shape, w2.shape) == ((16, 8), (3, 16))
    loaded = torch.export.load("model.pt2").module()
    for n in (1, 2, 33):
        x = np.random.default_rng(n).normal(size=(n, 8)).astype(np.float32)
        expected = np.maximum(x @ w1.T + b1, 0) @ w2.T + b2
        found = loaded(torch.from_numpy(x)).detach()
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.filterwarnings("always:`torch.jit")
def test_the_warning_of_this_version():
    with pytest.warns((FutureWarning, DeprecationWarning), match="jit.script") as seen:
        torch.jit.script(nn.Linear(2, 2))
    (found,) = [w for w in seen if "jit.script`" in str(w.message)]
    version = tuple(map(int, torch.__version__.split(".")[:2]))
    new = version >= (2, 14)
    assert found.category is (FutureWarning if new else DeprecationWarning)
    text = f"FutureWarning: {found.message}"
    assert_documented(PAGE, "FutureWarning: `torch.jit.script`", text)


def test_export_needs_the_python_model():
    traced = torch.jit.trace(nn.Linear(8, 3), torch.randn(2, 8))
    with raises_as_documented(PAGE, "ValueError: Exporting a ScriptModule"):
        torch.export.export(traced, (torch.randn(2, 8),))


def test_a_frozen_file_has_no_state_dict():
    traced = torch.jit.trace(snippet.make_model().eval(), torch.randn(2, 8))
    torch.jit.freeze(traced).save("old.pt")
    state = torch.jit.load("old.pt").state_dict()
    assert not state
    with raises_as_documented(PAGE, "RuntimeError: Error(s) in loading") as caught:
        snippet.make_model().load_state_dict(state)
    assert "Missing key(s) in state_dict" in str(caught.value)


class Positioned(nn.Linear):
    """With a buffer that no state dict of the class holds."""

    def __init__(self):
        super().__init__(8, 3)
        self.register_buffer("position", torch.arange(3.0), persistent=False)

    def forward(self, x):
        return super().forward(x) + self.position


def test_an_old_file_has_buffers_that_are_not_persistent():
    torch.jit.trace(Positioned(), torch.randn(2, 8)).save("old.pt")
    old, model, x = torch.jit.load("old.pt"), Positioned(), torch.randn(4, 8)
    with pytest.raises(RuntimeError) as caught:
        model.load_state_dict(old.state_dict())
    last = str(caught.value).splitlines()[-1].strip()
    assert_documented(PAGE, "Unexpected key(s)", last)
    assert not model.load_state_dict(old.state_dict(), strict=False).missing_keys
    torch.testing.assert_close(model(x), old(x))


def test_trace_keeps_one_branch_and_script_both():
    def sign(x):
        return x + 1 if x.sum() > 0 else x - 1

    up, down = torch.ones(2), -torch.ones(2)
    with pytest.warns(torch.jit.TracerWarning, match="might cause the trace"):
        traced = torch.jit.trace(sign, up, check_trace=False)
    assert torch.equal(traced(down), down + 1)  # wrong, without a message


@pytest.mark.parametrize("make", [torch.jit.script, lambda m: torch.jit.trace(m, X)])
def test_the_last_line_of_an_error_inside(make):
    model = make(snippet.make_model())
    with raises_as_documented(PAGE, "RuntimeError: The following") as caught:
        model(torch.zeros(2, 5))
    said = str(caught.value).rstrip().splitlines()
    assert "cannot be multiplied" in said[-1]
    assert any("torch/nn/modules/linear.py" in line for line in said)


class Layers(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(8, 8) for _ in range(2))


class Indexed(Layers):
    def forward(self, x):
        for i in range(2):
            x = self.layers[i](x)
        return x


class Looped(Layers):
    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


class Named(nn.Module):
    def forward(self, x):
        return {"y": x + 1}


def test_what_script_and_trace_refuse():
    with pytest.raises(RuntimeError) as caught:
        torch.jit.script(Indexed())
    said = str(caught.value).strip()
    assert_documented(PAGE, "Expected integer literal", said)
    assert torch.jit.script(Looped())(X).shape == (2, 8)
    with raises_as_documented(PAGE, "RuntimeError: Encountering a dict"):
        torch.jit.trace(Named(), X)
    assert torch.equal(torch.jit.trace(Named(), X, strict=False)(X)["y"], X + 1)


def test_files_for_the_other_function():
    torch.jit.trace(nn.Linear(8, 3), torch.randn(2, 8)).save("old.pt")
    with raises_as_documented(PAGE, "RuntimeError: Cannot use ``weights_only"):
        torch.load("old.pt", weights_only=True)
    torch.save(nn.Linear(8, 3).state_dict(), "weights.pt")
    with raises_as_documented(PAGE, "RuntimeError: PytorchStreamReader"):
        torch.jit.load("weights.pt")
