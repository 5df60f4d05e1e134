"""memory-leak-loss-history: counts by hand, and the bytes that autograd holds."""

import gc
import subprocess
import sys
import weakref
from collections import Counter

import pytest
import torch
from torch import nn
from torch.autograd.graph import saved_tensors_hooks

from tests.helpers import ROOT, load_snippet, raises_as_documented

SNIPPET = "errors/memory_leak_loss_history.py"
PAGE = "errors/memory-leak-loss-history"
living_graphs = load_snippet(SNIPPET).living_graphs


def new_graphs(before):
    return living_graphs() - before


def test_each_kept_loss_is_counted_until_it_is_dropped():
    before = living_graphs()
    weight = torch.ones(3, requires_grad=True)
    kept = [(weight * 2).sum() for _ in range(4)]
    kept.append(weight[:2] * 3)
    assert new_graphs(before) == {"SumBackward0 ()": 4, "MulBackward0 (2,)": 1}
    del kept[:3]
    assert new_graphs(before) == {"SumBackward0 ()": 1, "MulBackward0 (2,)": 1}
    kept.clear()
    assert new_graphs(before) == {}


def test_what_has_no_graph_is_not_counted():
    before = living_graphs()
    weight = torch.ones(3, requires_grad=True)
    loss = (weight * 2).sum()
    kept = [loss.item(), loss.detach(), weight.data, weight]
    with torch.no_grad():
        kept.append((weight * 2).sum())
    del loss
    assert new_graphs(before) == {}
    assert len(kept) == 5


def test_subclasses_are_counted():
    class Named(torch.Tensor):
        pass

    before = living_graphs()
    kept = torch.ones(3, requires_grad=True).as_subclass(Named) * 2
    assert sum(new_graphs(before).values()) == 2  # the view and the product
    assert type(kept) is Named


def test_cycles_are_collected_before_the_count():
    before = living_graphs()
    gc.disable()
    try:
        loss = torch.ones(3, requires_grad=True).sum()
        loss.itself = loss
        del loss
        assert new_graphs(before) == {}
    finally:
        gc.enable()


def test_a_running_total_is_found_by_its_grad_fn():
    total = torch.zeros(())
    weight = torch.ones(3, requires_grad=True)
    total += weight.sum().detach()
    assert total.grad_fn is None
    total += weight.sum()
    assert total.grad_fn is not None


RUN = """
import runpy, sys
scope = runpy.run_path(sys.argv[1], run_name="__main__")
leak, losses, outputs = scope["leak"], scope["losses"], scope["outputs"]
assert len(leak) == len(losses) == 3
assert [loss.item() for loss in leak] == losses
assert all(type(loss) is float for loss in losses)
assert all(output.grad_fn is None for output in outputs)
assert all(output.device.type == "cpu" for output in outputs)
"""


def test_the_run_shows_the_leak_and_only_that():
    """In a process of its own: other tests keep graphs, too."""
    command = [sys.executable, "-c", RUN, str(ROOT / "snippets" / SNIPPET)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) == 3
    for count, line in enumerate(lines, start=1):
        assert f"'MeanBackward0 ()': {count}" in line


alive = weakref.WeakSet()


class Box:
    """Stands for a tensor that autograd holds; freed when autograd frees it."""

    def __init__(self, tensor):
        self.tensor = tensor
        alive.add(self)


@pytest.fixture
def held():
    """A function: the MiB that autograd holds, without the weights."""
    model = nn.Sequential(nn.Linear(64, 256), nn.GELU(), nn.Linear(256, 64))
    weights = {weight.data_ptr() for weight in model.parameters()}

    def mib():
        found = {box.tensor.data_ptr(): box.tensor.nbytes for box in alive}
        return sum(n for at, n in found.items() if at not in weights) / 2**20

    with saved_tensors_hooks(Box, lambda box: box.tensor):
        yield model, mib


def losses(model, backward):
    for _ in range(3):
        loss = model(torch.randn(1024, 64)).square().mean()
        if backward:
            loss.backward()
        yield loss


def test_in_training_backward_has_freed_the_activations(held):
    model, mib = held
    kept = []
    for loss in losses(model, backward=True):
        kept.append(loss)
        assert mib() == 0
    assert all(loss.grad_fn is not None for loss in kept)


def test_in_evaluation_each_kept_loss_holds_its_activations(held):
    """By hand, in float32: the input, two of 256 wide, the output."""
    model, mib = held
    step = 1024 * 4 * (64 + 256 + 256 + 64) / 2**20
    kept, total = [], 0
    for count, loss in enumerate(losses(model, backward=False), start=1):
        kept.append(loss)
        assert mib() == count * step
    kept.clear()
    del loss
    assert mib() == 0
    for count, loss in enumerate(losses(model, backward=False), start=1):
        total = total + loss
        assert mib() == count * step
    del total, loss
    with torch.no_grad():
        kept = list(losses(model, backward=False))
    assert mib() == 0


def test_detached_outputs_are_found_by_their_shape():
    kept = [torch.ones(3, 7, 11) for _ in range(5)]
    shapes = Counter(
        str(tuple(t.shape))  # what torch.export leaves has shapes without a hash
        for t in gc.get_objects()
        if issubclass(type(t), torch.Tensor)
    )
    assert shapes["(3, 7, 11)"] == len(kept)
    assert list in [type(r) for r in gc.get_referrers(kept[0])]


def test_create_graph_warns_and_grad_does_not():
    weight = torch.ones(2, requires_grad=True)
    loss = (weight**3).sum()
    torch.autograd.grad(loss, [weight], create_graph=True)
    with raises_as_documented(PAGE, "UserWarning: Using backward() with"):
        loss.backward(create_graph=True)
    weight.grad = None
