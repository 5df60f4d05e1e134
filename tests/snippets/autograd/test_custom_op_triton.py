"""custom-op-triton: against silu, inside a compiled graph, and what opcheck finds."""

import warnings

import numpy as np
import pytest
import torch
from torch._subclasses import FakeTensorMode

from tests.chains.pasted import answer
from tests.helpers import load_snippet, raises_as_documented

PAGE = "autograd/custom-op-triton"
snippet = load_snippet("autograd/custom_op_triton.py")
swish, Tensor = snippet.swish, torch.Tensor


@torch.library.custom_op("mylib::scale", mutates_args=())
def scale(x: Tensor) -> Tensor:
    """Neither fake nor gradient."""
    return x * 2


@torch.library.custom_op("mylib::same", mutates_args=())
def same(x: Tensor) -> Tensor:
    return x


@torch.library.custom_op("mylib::add_one", mutates_args=())
def add_one(x: Tensor) -> Tensor:
    """Change its input, and not say so."""
    x += 1
    return x * 2


@torch.library.custom_op("mylib::add_one_declared", mutates_args={"x"})
def add_one_declared(x: Tensor) -> None:
    x += 1


@torch.library.custom_op("mylib::sine", mutates_args=())
def sine(x: Tensor) -> Tensor:
    return torch.as_tensor(np.sin(x.numpy(force=True)))


def numpy_backward(ctx, grad_output):
    (x,) = ctx.saved_tensors
    return grad_output * torch.as_tensor(np.cos(x.numpy(force=True)))


sine.register_fake(torch.empty_like)
sine.register_autograd(numpy_backward, setup_context=snippet.setup_context)


def check(op, *args):
    """Run opcheck, without the warnings that PyTorch hides outside of tests."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return torch.library.opcheck(op, args)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("shape", [(), (5,), (2, 0), (3, 4)])
def test_value_and_gradient(dtype, shape):
    torch.manual_seed(0)
    x = torch.randn(shape, dtype=dtype, requires_grad=True)
    built_in = x.detach().clone().requires_grad_()
    y, expected = swish(x), torch.nn.functional.silu(built_in)
    torch.testing.assert_close(y, expected)
    weight = torch.randn(shape, dtype=dtype)
    (weight * y).sum().backward()
    (weight * expected).sum().backward()
    torch.testing.assert_close(x.grad, built_in.grad)


def test_opcheck_with_a_gradient():
    result = check(swish, torch.randn(3, 2, requires_grad=True))
    assert set(result.values()) == {"SUCCESS"}
    assert "test_aot_dispatch_dynamic" in result


def test_the_answer_trains():
    """Pasted with another name: the operator exists once in a process."""
    names = {}
    exec(answer("custom-op-triton").replace("mylib::", "pasted::"), names)
    layer = torch.nn.Linear(3, 2)
    names["swish"](layer(torch.randn(4, 3))).sum().backward()
    assert layer.weight.grad.abs().sum() > 0


def test_compile_sees_one_call():
    graphs = []

    def keep(module, inputs):
        graphs.append(module.graph)
        return module

    def model(x):
        return swish(x + 1) * 2

    x = torch.randn(4)
    compiled = torch.compile(model, backend=keep, fullgraph=True)
    torch.testing.assert_close(compiled(x), torch.nn.functional.silu(x + 1) * 2)
    (graph,) = graphs
    calls = [node.target for node in graph.nodes if node.op == "call_function"]
    assert calls.count(torch.ops.mylib.swish.default) == 1
    assert len(calls) == 3


def test_a_kernel_for_one_device():
    """The variant: the meta device stands for CUDA."""
    assert torch.ops.mylib.swish(torch.zeros(2)).tolist() == [0, 0]
    scale.register_kernel("meta")(lambda x: x.new_empty(9))
    assert scale(torch.zeros(2, device="meta")).shape == (9,)
    assert scale(torch.ones(2)).tolist() == [2, 2]


def test_without_a_fake():
    with (
        FakeTensorMode() as mode,
        raises_as_documented(PAGE, "RuntimeError: There was no fake impl"),
    ):
        scale(mode.from_tensor(torch.ones(2)))
    with pytest.raises(Exception, match="There was no fake impl registered for"):
        torch.compile(scale, backend="eager", fullgraph=True)(torch.ones(2))


def test_without_a_gradient():
    with raises_as_documented(PAGE, "RuntimeError: Trying to backward through"):
        scale(torch.ones(2, requires_grad=True)).sum().backward()


def test_an_output_that_is_the_input():
    with pytest.raises(RuntimeError, match="must not also be an input to this custom"):
        same(torch.ones(2))


def test_an_input_changed_in_secret():
    with raises_as_documented(PAGE, "OpCheckError: opcheck(op, ...): test_schema"):
        check(add_one, torch.ones(2))
    check(add_one_declared, torch.ones(2))


def test_a_backward_with_numpy():
    x = torch.ones(2, requires_grad=True)
    sine(x).sum().backward()  # eager: fine
    torch.testing.assert_close(x.grad, torch.ones(2).cos())
    with raises_as_documented(PAGE, "OpCheckError: opcheck(op, ...): test_aot"):
        check(sine, torch.ones(2, requires_grad=True))


def test_without_type_hints():
    with raises_as_documented(PAGE, "ValueError: infer_schema(func): Parameter x"):
        torch.library.custom_op("mylib::plain", lambda x: x + 1, mutates_args=())
