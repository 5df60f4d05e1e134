"""fused-foreach-optimizer: AdamW in float64 by NumPy; what is refused."""

import importlib
import inspect
import runpy
from copy import deepcopy

import numpy as np
import pytest
import torch
from torch import nn
from torch.optim import SGD, Adagrad, Adam, AdamW, RMSprop
from torch.utils import _foreach_utils

from tests.helpers import ROOT, load_snippet, raises_as_documented

OPTIMIZER = importlib.import_module("torch.optim.optimizer")
PAGE = "performance/fused-foreach-optimizer"
snippet = load_snippet("performance/fused_foreach_optimizer.py")


def parameters(**options):
    return [nn.Parameter(torch.linspace(1, 2, 3).to(**options))]


def step(optimizer):
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            parameter.grad = torch.ones_like(parameter)
    optimizer.step()


def test_what_is_printed(capsys):
    path = ROOT / "snippets/performance/fused_foreach_optimizer.py"
    runpy.run_path(str(path), run_name="__main__")
    words = capsys.readouterr().out.split()
    fused, foreach, loop = (int(words[i].strip(",")) for i in (5, 7, 9))
    assert 10 * fused < foreach < loop / 3
    assert loop >= 20 * 10  # ten operations for each of 20 parameters


@pytest.mark.parametrize("flags", [{"fused": True}, {"foreach": True}, {}])
def test_three_steps_by_numpy(flags):
    torch.manual_seed(0)
    model = nn.Linear(8, 8, bias=False)
    weight = model.weight.detach().double().numpy().copy()
    found, calls = snippet.train(model, AdamW(model.parameters(), lr=0.01, **flags))
    assert calls > 0
    x = torch.linspace(-1, 1, 64).view(8, 8).double().numpy()
    mean, square = np.zeros((8, 8)), np.zeros((8, 8))
    for t in (1, 2, 3):
        gradient = 2 * (x @ weight.T).T @ x / 64
        mean = 0.9 * mean + 0.1 * gradient
        square = 0.999 * square + 0.001 * gradient**2
        weight *= 1 - 0.01 * 0.01  # lr * weight_decay
        root = np.sqrt(square / (1 - 0.999**t)) + 1e-8
        weight -= 0.01 * mean / (1 - 0.9**t) / root
    np.testing.assert_allclose(found.detach(), weight.ravel(), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("kind", [Adam, AdamW, SGD, Adagrad])
def test_fused_on_a_cpu(kind):
    one, two = parameters(), parameters()
    step(kind(one, lr=0.1, fused=True))
    step(kind(two, lr=0.1, foreach=False))
    torch.testing.assert_close(one, two)
    assert not torch.equal(one[0], parameters()[0])


def test_the_table():
    fused, neither = set(), set()
    for name, kind in vars(torch.optim).items():
        if isinstance(kind, type) and name != "Optimizer":
            found = inspect.signature(kind).parameters
            fused |= {name} if "fused" in found else set()
            neither |= {name} if "foreach" not in found else set()
    assert fused == {"Adam", "AdamW", "SGD", "Adagrad"}
    assert neither == {"LBFGS", "Muon", "SparseAdam"}
    devices = _foreach_utils._get_foreach_kernels_supported_devices()
    assert set(devices) == {"cuda", "xpu", "mtia", "privateuseone"}
    devices = _foreach_utils._get_fused_kernels_supported_devices()
    expected = {"cuda", "cpu", "mps", "xpu", "hpu", "mtia", "privateuseone"}
    assert set(devices) == expected


@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_the_default(monkeypatch, device):
    """``meta``, said to be a GPU."""
    monkeypatch.setattr(
        OPTIMIZER,
        "_get_foreach_kernels_supported_devices",
        lambda: ["meta"],
    )
    default = OPTIMIZER._default_to_fused_or_foreach
    assert default(parameters(device=device), False) == (False, device == "meta")


def test_loading_brings_the_old_flag_back():
    old = AdamW(parameters())
    step(old)
    state = old.state_dict()
    new = AdamW(parameters(), fused=True)
    new.load_state_dict(state)
    assert new.param_groups[0]["fused"] is None
    for g in state["param_groups"]:
        g["fused"] = True
    new.load_state_dict(state)
    assert new.param_groups[0]["fused"]
    with snippet.Calls() as calls:
        step(new)
    assert calls.count < 10
    step(old)
    expected = old.state[old.param_groups[0]["params"][0]]
    found = new.state[new.param_groups[0]["params"][0]]
    torch.testing.assert_close(found, expected)


@pytest.mark.parametrize("flags", [{"fused": True}, {"fused": False}])
@pytest.mark.parametrize("resume", [False, True])
def test_channels_last_after_the_first_step(flags, resume):
    """The pitfall: only the loop finds the state of each weight."""
    torch.manual_seed(0)
    plain, x = nn.Conv2d(3, 4, 2), torch.randn(2, 3, 4, 4)
    other = deepcopy(plain)

    def steps(model, optimizer, x):
        for _ in range(2):
            optimizer.zero_grad()
            model(x).square().sum().backward()
            optimizer.step()

    expected = AdamW(plain.parameters(), lr=0.1, foreach=False)
    steps(plain, expected, x)
    optimizer = AdamW(other.parameters(), lr=0.1, **flags)
    steps(other, optimizer, x)
    torch.testing.assert_close(other.weight, plain.weight)

    other.to(memory_format=torch.channels_last)
    if resume:
        state = optimizer.state_dict()
        optimizer = AdamW(other.parameters(), lr=0.1, **flags)
        optimizer.load_state_dict(state)
    steps(plain, expected, x)
    steps(other, optimizer, x.to(memory_format=torch.channels_last))
    same = torch.allclose(other.weight, plain.weight, atol=1e-4)
    assert same != flags["fused"]


@pytest.mark.parametrize("options", [{"device": "meta"}, {"dtype": torch.complex64}])
def test_devices_and_dtypes_that_are_refused(options):
    optimizer = AdamW(parameters(**options), fused=True)
    with raises_as_documented(PAGE, "RuntimeError: `fused=True` requires"):
        step(optimizer)


def test_other_messages():
    with raises_as_documented(PAGE, "TypeError: RMSprop"):
        RMSprop(parameters(), fused=True)
    with raises_as_documented(PAGE, "RuntimeError: `fused` and"):
        AdamW(parameters(), fused=True, foreach=True)
    with raises_as_documented(PAGE, "ValueError: lr as a Tensor"):
        AdamW(parameters(), lr=torch.tensor(0.1), foreach=True)
    step(AdamW(parameters(), lr=torch.tensor(0.1), fused=True))
    table = nn.Embedding(3, 2, sparse=True)
    optimizer = SGD(table.parameters(), lr=0.1, fused=True)
    table(torch.tensor([1])).sum().backward()
    with raises_as_documented(PAGE, "RuntimeError: `_fused_sgd`"):
        optimizer.step()
    SGD(table.parameters(), lr=0.1, fused=False).step()


def test_the_name_that_the_trainer_has():
    transformers = pytest.importorskip("transformers")
    assert "adamw_torch_fused" in list(transformers.training_args.OptimizerNames)
