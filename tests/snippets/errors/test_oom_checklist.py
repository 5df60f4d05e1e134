"""oom-checklist: the gradients of parts; the messages that a CPU can raise."""

from pathlib import Path

import pytest
import torch
from torch import nn

from tests.helpers import load_snippet, quotes, raises_as_documented, recipes

PAGE = "errors/oom-checklist"


@pytest.mark.parametrize("size", [1, 8, 20, 32])
def test_the_parts_add_up_to_the_batch(size):
    """Sizes that do not divide the batch, and one part for all of it."""
    torch.manual_seed(0)
    answer = recipes()["oom-checklist"].answer
    assert set(answer.yours) == {"optimizer", "x", "y", "loss_fn", "model"}
    model = nn.Sequential(nn.Linear(6, 9), nn.Tanh(), nn.Linear(9, 3))
    x, y = torch.randn(size, 6), torch.randint(3, (size,))
    loss_fn = nn.CrossEntropyLoss()
    params = list(model.parameters())
    whole = torch.autograd.grad(loss_fn(model(x), y), params)
    before = [p.detach().clone() for p in params]
    names = {"model": model, "loss_fn": loss_fn, "x": x, "y": y}
    names["optimizer"] = torch.optim.SGD(params, lr=0.1)
    for parameter in params:  # of the step before
        parameter.grad = torch.full_like(parameter, 9)
    mean = loss_fn(model(x), y).detach()
    exec(answer.text, names)
    torch.testing.assert_close(names["total"], mean, rtol=0.03, atol=0.01)
    assert names["total"].grad_fn is None
    for parameter, old, grad in zip(params, before, whole, strict=True):
        assert parameter.grad.dtype == torch.float32
        torch.testing.assert_close(parameter.grad, grad, rtol=0.03, atol=0.01)
        expected = old - 0.1 * parameter.grad
        torch.testing.assert_close(parameter.detach(), expected)


def test_the_demonstration_steps():
    snippet = load_snippet("errors/oom_checklist.py")
    assert snippet.optimizer.state[snippet.model.weight]["step"] == 1


def test_main_memory_is_a_runtime_error_of_its_own():
    with raises_as_documented(
        PAGE, "RuntimeError: [enforce fail at alloc_cpu.cpp:127]"
    ) as caught:
        torch.empty(10**15)
    assert not isinstance(caught.value, torch.OutOfMemoryError)


@pytest.mark.skipif(torch.version.cuda is None, reason="not a CUDA build")
def test_the_binary_holds_the_message():
    """Raising it takes a GPU."""
    assert torch.cuda.OutOfMemoryError is torch.OutOfMemoryError
    name = f"{torch.OutOfMemoryError.__module__}.{torch.OutOfMemoryError.__name__}"
    first = quotes(PAGE)[0]
    assert first.startswith(f"{name}: CUDA out of memory. Tried to allocate ")
    binary = (Path(torch.__file__).parent / "lib/libc10_cuda.so").read_bytes()
    for text in (
        "CUDA out of memory. Tried to allocate ",
        " has a total capacity of ",
        " memory in use. ",
        " is reserved by PyTorch but unallocated.",
        "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True",
    ):
        assert text.encode() in binary
