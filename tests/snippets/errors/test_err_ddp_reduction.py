"""err-ddp-reduction: two real processes, and each cause in a group of one."""

from dataclasses import dataclass
from functools import partial

import pytest
import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.checkpoint import checkpoint

from tests.helpers import load_snippet, raises_as_documented, recipes, run_python

PAGE = "errors/err-ddp-reduction"
snippet = load_snippet("errors/err_ddp_reduction.py")
X = torch.ones(2, 4)
pytestmark = pytest.mark.usefixtures("group")


def test_two_processes_raise_name_and_mend(tmp_path):
    done = run_python(snippet.__file__, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "no gradient: b.weight",
        "no gradient: b.bias",
        "error: Expected to have finished reduction in the prior iteration",
        "b gets 0 from rank 0, 2 from rank 1: 1.0",
    ]


def test_the_answer_leaves_out_what_is_frozen_or_used(capsys):
    net = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 4), nn.Linear(4, 1))
    net[0].requires_grad_(False)
    net[1](torch.ones(1, 4)).sum().backward()
    exec(recipes()["err-ddp-reduction"].answer.text, {"net": net})
    printed = capsys.readouterr().out.splitlines()
    assert printed == ["no gradient: 2.weight", "no gradient: 2.bias"]


class Cut(nn.Module):
    """Two layers; the first gets no gradient."""

    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(4, 4), nn.Linear(4, 1)

    def forward(self, x):
        return self.last(self.first(x).detach())


class Both(Cut):
    """The second output is not in the loss below."""

    def forward(self, x):
        return self.first(x), self.last(x)


def steps(model):
    for _ in range(2):
        out = model(X)
        (out[0] if isinstance(out, tuple) else out).sum().backward()


@pytest.mark.parametrize("make", [snippet.Net, Cut, Both])
def test_each_cause_raises_in_the_second_step(make):
    with raises_as_documented(PAGE, "RuntimeError: Expected to have finished"):
        steps(DDP(make()))
    steps(DDP(make(), find_unused_parameters=True))


@pytest.mark.parametrize("frozen", ["before", "after"])
@pytest.mark.parametrize("flag", [False, True])
def test_freeze_before_wrapping_or_set_the_flag(frozen, flag):
    net = snippet.Net()
    net.b.requires_grad_(frozen == "after")
    model = DDP(net, find_unused_parameters=flag)
    net.b.requires_grad_(False)
    if frozen == "before" or flag:
        steps(model)
        return
    with raises_as_documented(PAGE, "RuntimeError: Expected to have finished"):
        steps(model)


def test_a_static_graph_skips_the_same_layers_and_no_others():
    steps(DDP(snippet.Net(), static_graph=True))
    model = DDP(snippet.Net(), static_graph=True)
    with raises_as_documented(PAGE, "RuntimeError: Your training graph"):
        for step in range(3):
            model(X, "abb"[step]).sum().backward()


class Repeated(nn.Module):
    """One layer in two checkpoints."""

    def __init__(self, reentrant):
        super().__init__()
        self.layer, self.reentrant = nn.Linear(4, 4), reentrant

    def forward(self, x):
        run = partial(checkpoint, self.layer, use_reentrant=self.reentrant)
        return run(run(x))


def test_reentrant_checkpoints_mark_a_layer_twice():
    x = torch.ones(2, 4, requires_grad=True)
    with raises_as_documented(PAGE, "RuntimeError: Expected to mark"):
        model = DDP(Repeated(True), find_unused_parameters=True)
        model(x).sum().backward()
    model = DDP(Repeated(False), find_unused_parameters=True)
    model(x).sum().backward()


class Joined(snippet.Net):
    """Both heads in one call."""

    def forward(self, x, task=None):
        return super().forward(x, task) if task else (self.a(x), self.b(x))


def test_two_calls_of_other_branches_mark_a_layer_twice():
    model = DDP(Joined(), find_unused_parameters=True)
    with raises_as_documented(PAGE, "RuntimeError: Expected to mark"):
        (model(X, "a") + model(X, "b")).sum().backward()
    model = DDP(Joined(), find_unused_parameters=True)
    for _ in range(2):
        model.zero_grad()
        sum(model(X)).sum().backward()
    assert model.module.b.bias.grad == 2


@dataclass
class Output:
    """DDP looks into it."""

    value: torch.Tensor


class Data(nn.Linear):
    """Returns a dataclass."""

    def forward(self, x):
        return Output(super().forward(x))


def test_a_dataclass_is_looked_into():
    model = DDP(Data(4, 1), find_unused_parameters=True)
    for _ in range(2):
        model(X).value.sum().backward()


class Wrapped(nn.Linear):
    """Returns an object of a class that DDP does not know."""

    def forward(self, x):
        return type("Result", (), {"value": super().forward(x)})()


def test_an_output_in_which_no_tensor_is_found():
    with raises_as_documented(PAGE, "RuntimeError: Expected to mark"):
        model = DDP(Wrapped(4, 1), find_unused_parameters=True)
        for _ in range(2):
            model(X).value.sum().backward()


def test_all_frozen():
    with raises_as_documented(PAGE, "RuntimeError: DistributedDataParallel is not"):
        DDP(nn.Linear(2, 2).requires_grad_(False))
