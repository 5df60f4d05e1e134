"""scalar-item: the numbers against Python, what reads a number, the errors."""

import json
import math
import warnings
import weakref

import numpy as np
import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from tests.chains.pasted import answer
from tests.helpers import load_snippet, raises_as_documented

PAGE = "tensors/scalar-item"
snippet = load_snippet("tensors/scalar_item.py")


class Reads(TorchDispatchMode):
    """Counts how often a number leaves the tensors."""

    def __init__(self):
        super().__init__()
        self.count = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if func is torch.ops.aten._local_scalar_dense.default:
            self.count += 1
        return func(*args, **(kwargs or {}))


def test_the_numbers_are_pythons():
    logits = [0.5, 2.0, 1.0]
    assert snippet.values == logits
    assert snippet.loss.requires_grad
    assert snippet.value == sum(x * x for x in logits) / 3
    assert snippet.label == logits.index(max(logits))
    kinds = [type(x) for x in (snippet.value, snippet.label, snippet.values)]
    assert kinds == [float, int, list]


@pytest.mark.parametrize("value", [3, 2.5, True, 1 + 2j])
def test_item_keeps_the_kind_of_number(value):
    for tensor in (torch.tensor(value), torch.tensor([[value]])):
        assert tensor.item() == value
        assert type(tensor.item()) is type(value)


def test_the_answer_in_bfloat16_and_for_a_batch():
    logits = torch.tensor([[0.25, -1.0], [0.5, 3.0]], dtype=torch.bfloat16)
    names = {"logits": logits[1:], "loss": logits[:1, :1]}
    exec(answer("scalar-item"), names)
    assert (names["value"], names["label"]) == (0.25, 1)
    assert names["values"] == [[0.5, 3.0]]
    names["logits"] = logits  # two samples have no one label: 3 would be no class
    with raises_as_documented(PAGE, "RuntimeError: a Tensor with 2 elements"):
        exec(answer("scalar-item"), names)


TWO, ONE, ZERO_DIM = torch.ones(2), torch.ones(1), torch.tensor(1.25)


@pytest.mark.parametrize(
    ("wrong", "start"),
    [
        (TWO.item, "RuntimeError: a Tensor"),
        (lambda: float(TWO), "ValueError: only one element"),
        (lambda: int(TWO), "ValueError: only one element"),
        (lambda: torch.tensor([TWO, TWO]), "ValueError: only one element"),
        (lambda: ZERO_DIM[0], "IndexError: invalid index"),
        (lambda: ZERO_DIM.data[0], "IndexError: invalid index"),
        (lambda: json.dumps({"loss": ZERO_DIM}), "TypeError: Object of type Tensor"),
        (lambda: f"{ONE:.2f}", "TypeError: unsupported format string"),
        (lambda: round(ZERO_DIM, 1), "TypeError: type Tensor"),
        (lambda: list(ZERO_DIM), "TypeError: iteration over"),
        (lambda: [1, 2][ZERO_DIM], "TypeError: only integer tensors"),
    ],
)
def test_the_documented_errors_are_raised(wrong, start):
    with raises_as_documented(PAGE, start):
        wrong()


def test_the_fixes():
    assert TWO.mean().item() == TWO[0].item() == 1
    assert torch.stack([TWO, TWO]).shape == (2, 2)
    assert json.dumps([ZERO_DIM.item(), TWO.tolist()]) == "[1.25, [1.0, 1.0]]"
    assert f"{ONE.item():.2f}" == "1.00"
    assert round(ZERO_DIM.item(), 1) == 1.2
    assert [1, 2][int(ZERO_DIM)] == 2


def test_the_documented_warning():
    torch.set_warn_always(True)  # else once per process
    try:
        loss = torch.tensor(4.0, requires_grad=True)
        for read in (float, math.sqrt):
            with (
                warnings.catch_warnings(),
                raises_as_documented(PAGE, "UserWarning: Converting a tensor"),
            ):
                warnings.simplefilter("error")
                read(loss)
    finally:
        torch.set_warn_always(False)
    assert loss.item() == 4
    assert loss.sqrt().requires_grad


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
    assert f"{torch.tensor(0.1).item():.3f}" == "0.100"
    loss, accuracy = torch.tensor(0.5), torch.tensor(0.75)
    assert torch.stack([loss, accuracy]).tolist() == [0.5, 0.75]
