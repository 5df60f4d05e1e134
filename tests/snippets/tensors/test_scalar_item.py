"""scalar-item: the mean against a float64 NumPy loop; reads are counted."""

import json
import math
import warnings
import weakref

import numpy as np
import pytest
import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

from tests.helpers import load_snippet, raises_as_documented

PAGE = "tensors/scalar-item"
train_epoch = load_snippet("tensors/scalar_item.py").train_epoch


class Reads(TorchDispatchMode):
    """Counts how often a number leaves the tensors."""

    def __init__(self):
        super().__init__()
        self.count = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if func is torch.ops.aten._local_scalar_dense.default:
            self.count += 1
        return func(*args, **(kwargs or {}))


def batches(sizes=(4, 4, 2), D=3):
    torch.manual_seed(0)
    return [(torch.randn(B, D), torch.randn(B, 1)) for B in sizes]


def test_mean_and_weights_equal_a_float64_loop():
    model = nn.Linear(3, 1)
    w = model.weight.detach().numpy().astype(np.float64).T  # (D, 1)
    b = model.bias.detach().numpy().astype(np.float64)
    expected = []
    for _ in range(3):
        total = 0.0
        for x, y in batches():
            x, y = x.numpy().astype(np.float64), y.numpy().astype(np.float64)
            error = x @ w + b - y
            total += (error**2).sum()
            w = w - 0.1 * 2 * x.T @ error / len(x)
            b = b - 0.1 * 2 * error.mean(0)
        expected.append(total / 10)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    means = [train_epoch(model, batches(), optimizer) for _ in range(3)]
    assert means == pytest.approx(expected, rel=1e-5)
    np.testing.assert_allclose(model.weight.detach().numpy().T, w, rtol=1e-4)


def test_one_read_per_epoch():
    model = nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    data = batches((2,) * 9)
    with Reads() as reads:
        mean = train_epoch(model, iter(data), optimizer)
    assert reads.count == 1
    assert type(mean) is float


def test_the_sum_does_not_hold_the_graph(monkeypatch):
    read, attached = torch.Tensor.item, []

    def item(tensor):
        attached.append(tensor.requires_grad)
        return read(tensor)

    monkeypatch.setattr(torch.Tensor, "item", item)
    model = nn.Linear(3, 1)
    train_epoch(model, batches(), torch.optim.SGD(model.parameters(), lr=0.1))
    assert attached == [False]


def test_the_sum_is_on_the_device_of_the_model():
    model = nn.Linear(3, 1)
    optimizer, data = torch.optim.SGD(model.parameters(), lr=0.1), batches()
    with torch.device("meta"):  # another default, where nothing can be read
        assert train_epoch(model, data, optimizer) > 0


def test_no_batches():
    model = nn.Linear(3, 1)
    with pytest.raises(ZeroDivisionError):
        train_epoch(model, [], torch.optim.SGD(model.parameters(), lr=0.1))


@pytest.mark.parametrize("value", [3, 2.5, True, 1 + 2j])
def test_item_keeps_the_kind_of_number(value):
    for tensor in (torch.tensor(value), torch.tensor([[value]])):
        assert tensor.item() == value
        assert type(tensor.item()) is type(value)


def test_the_documented_errors_are_raised():
    two = torch.ones(2)
    with raises_as_documented(PAGE):
        two.item()
    for read in (float, int):
        with raises_as_documented(PAGE):
            read(two)
    with raises_as_documented(PAGE):
        torch.tensor([two, two])
    with raises_as_documented(PAGE):
        torch.tensor(1.0)[0]
    with raises_as_documented(PAGE):
        torch.tensor(1.0).data[0]
    with raises_as_documented(PAGE):
        torch.tensor(1.0).item().item()
    with raises_as_documented(PAGE):
        json.dumps({"loss": torch.tensor(1.0)})
    with raises_as_documented(PAGE):
        f"{torch.ones(1):.2f}"


def test_the_documented_warning():
    torch.set_warn_always(True)  # else once per process
    try:
        loss = torch.tensor(4.0, requires_grad=True)
        for read in (float, math.sqrt, lambda x: torch.tensor([x])):
            with warnings.catch_warnings(), raises_as_documented(PAGE):
                warnings.simplefilter("error")
                read(loss)
    finally:
        torch.set_warn_always(False)
    assert loss.item() == 4
    assert f"{loss:.1f}" == "4.0"
    assert torch.stack([loss.sqrt()]).requires_grad


@pytest.mark.parametrize(
    "read",
    [
        float,
        "{:.3f}".format,
        lambda loss: bool(loss > 10),
        torch.Tensor.item,
    ],
)
def test_what_reads_the_number(read):
    with Reads() as reads:
        read(torch.tensor(1.5))
    assert reads.count == 1


class Saved:
    """What autograd keeps of a tensor for backward."""

    def __init__(self, tensor):
        self.tensor = tensor


@pytest.mark.parametrize(
    ("add", "alive"),
    [(lambda loss: loss, 6), (torch.Tensor.detach, 0), (torch.Tensor.item, 0)],
    ids=["loss", "detach", "item"],
)
def test_a_sum_of_losses_keeps_what_was_saved_for_backward(add, alive):
    saved = weakref.WeakSet()

    def pack(tensor):
        saved.add(one := Saved(tensor))
        return one

    total, weight = torch.zeros(()), torch.ones(3, requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda one: one.tensor):
        for _ in range(3):
            total += add((weight * weight).sum())  # the product saves both
    assert len(saved) == alive


def test_digits_and_variants():
    assert torch.tensor(0.1).item() == 0.10000000149011612 == float(np.float32(0.1))
    loss, accuracy = torch.tensor(0.5), torch.tensor(0.75)
    assert torch.stack([loss, accuracy]).tolist() == [0.5, 0.75]
