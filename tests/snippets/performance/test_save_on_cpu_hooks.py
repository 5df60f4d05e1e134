"""save-on-cpu-hooks: gradients in float64; what is kept, counted in bytes."""

import runpy

import numpy as np
import pytest
import torch
from torch import nn
from torch.autograd.graph import save_on_cpu, saved_tensors_hooks
from torch.utils.checkpoint import checkpoint

from tests.helpers import ROOT, load_snippet, raises_as_documented

PAGE = "performance/save-on-cpu-hooks"
snippet = load_snippet("performance/save_on_cpu_hooks.py")


def itself(tensor):
    return tensor.detach()


def test_what_is_printed(capsys):
    path = ROOT / "snippets/performance/save_on_cpu_hooks.py"
    found = runpy.run_path(str(path), run_name="__main__")
    line = "the gradient changes by less than 1 %: True\n"
    assert capsys.readouterr().out == line
    assert 0 < found["change"] < 0.01  # 8 bits, of three saved tensors


def test_the_gradient_by_numpy():
    """A layer without activation: the gradient holds its rounded input."""
    model, x = nn.Linear(5, 3), torch.randn(4, 5)
    with snippet.in_bfloat16(model):
        total = model(x).sum()
    total.backward()
    bits = x.numpy().view(np.uint32).astype(np.uint64)  # to nearest, ties to even
    rounded = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16 << 16
    rounded = rounded.astype(np.uint32).view(np.float32).astype(np.float64)
    expected = np.tile(rounded.sum(0), (3, 1))
    np.testing.assert_allclose(model.weight.grad, expected, rtol=1e-5, atol=1e-5)
    assert not np.allclose(rounded, x, rtol=1e-5)


def kept(model, x):
    """The tensors that the hooks of the snippet keep."""
    hooks, found = snippet.in_bfloat16(model), []

    def pack(tensor):
        found.append(hooks.pack_hook(tensor))
        return found[-1]

    with saved_tensors_hooks(pack, hooks.unpack_hook):
        model(x).sum().backward()
    return found


def test_weights_and_other_dtypes_stay():
    model = nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 2))
    weights = {p.untyped_storage().data_ptr() for p in model.parameters()}
    halves, others = [], []
    for dtype, tensor in kept(model, torch.randn(8, 4)):
        assert dtype == torch.float32
        (others if tensor.dtype == torch.float32 else halves).append(tensor)
    assert {t.untyped_storage().data_ptr() for t in others} <= weights
    assert {t.dtype for t in halves} == {torch.bfloat16}
    assert {tuple(t.shape) for t in halves} == {(8, 4)}
    for dtype in (torch.float64, torch.float16):
        wide = nn.Sequential(nn.Tanh(), nn.Tanh()).to(dtype)
        x = torch.randn(8, 4, dtype=dtype, requires_grad=True)
        assert {(d, t.dtype) for d, t in kept(wide, x)} == {(dtype, dtype)}


def test_batchnorm_keeps_its_statistics():
    """Rounded to 8 bits, the mean of large inputs is far off."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(8, 8), nn.BatchNorm1d(8), nn.Linear(8, 4))
    x, weight = torch.randn(64, 8) + 5, model[0].weight
    (expected,) = torch.autograd.grad(model(x).pow(4).mean(), weight)
    with snippet.in_bfloat16(model):
        total = model(x).pow(4).mean()
    (found,) = torch.autograd.grad(total, weight)
    assert (found - expected).norm() / expected.norm() < 0.05


def test_save_on_cpu_gives_the_same():
    x = torch.randn(6, 5, requires_grad=True)
    for pin_memory in (False, True):
        with save_on_cpu(pin_memory=pin_memory):
            y = (x.exp() * x).sum()
        (found,) = torch.autograd.grad(y, x)
        value = x.detach().double().numpy()
        expected = np.exp(value) * (1 + value)
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


def test_a_tensor_that_two_operations_save_is_packed_twice():
    model, x, seen = nn.Linear(3, 3), torch.randn(2, 3, requires_grad=True), []

    def pack(tensor):
        seen.append(tensor.untyped_storage().data_ptr())
        return tensor.detach()

    with saved_tensors_hooks(pack, itself):
        (model(x) + model(x)).sum()
    assert seen.count(x.untyped_storage().data_ptr()) == 2
    assert seen.count(model.weight.untyped_storage().data_ptr()) == 2


def test_a_change_in_place_is_not_noticed():
    x = torch.zeros(3, requires_grad=True)
    y = x.exp()
    y.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()
    for pack, gradient in ((itself, 2), (torch.clone, 1)):
        x = torch.zeros(3, requires_grad=True)
        with saved_tensors_hooks(lambda t, pack=pack: pack(t.detach()), itself):
            y = x.exp()
        y.add_(1)
        y.sum().backward()
        assert x.grad.tolist() == [gradient] * 3  # 1 is right


def test_only_the_inner_pair():
    seen, x = [], torch.ones(2, requires_grad=True)

    def named(name):
        return saved_tensors_hooks(
            lambda tensor: (seen.append(name), tensor.detach())[1], itself
        )

    with named("outer"), named("inner"):
        x.exp()
    assert seen == ["inner"]


def test_around_checkpoints_only_the_inputs_are_packed():
    first, second = (nn.Sequential(nn.Linear(4, 9), nn.GELU()) for _ in range(2))
    second[0] = nn.Linear(9, 9)
    x, seen = torch.randn(3, 4, requires_grad=True), []

    def pack(tensor):
        seen.append(tuple(tensor.shape))
        return tensor.detach()

    with saved_tensors_hooks(pack, itself):
        y = checkpoint(first, x, use_reentrant=False)
        total = checkpoint(second, y, use_reentrant=False).sum()
    (found,) = torch.autograd.grad(total, x)
    assert [shape for shape in seen if shape != (0,)] == [(3, 4), (3, 9)]
    (expected,) = torch.autograd.grad(second(first(x)).sum(), x)
    torch.testing.assert_close(found, expected)


def test_what_variables_hold_is_not_packed_away():
    x = torch.ones(2, requires_grad=True)
    with saved_tensors_hooks(lambda tensor: None, lambda packed: torch.ones(2)):
        y = x.exp()
    assert y.tolist() == pytest.approx([np.e, np.e])


def test_on_disk(tmp_path):
    def pack(tensor):
        path = tmp_path / str(len(list(tmp_path.iterdir())))
        torch.save(tensor, path)
        return path

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with saved_tensors_hooks(pack, lambda path: torch.load(path, weights_only=True)):
        y = (x * x).sum()
    assert list(tmp_path.iterdir())
    y.backward()
    assert x.grad.tolist() == [2, 4]


def test_messages():
    x = torch.ones(3, requires_grad=True)
    with (
        saved_tensors_hooks(lambda tensor: tensor.mul_(2), itself),
        raises_as_documented(PAGE, "RuntimeError: A saved tensor"),
    ):
        x.exp()
    with saved_tensors_hooks(itself, lambda packed: None):
        y = x.exp()
    with raises_as_documented(PAGE, "TypeError: Output of"):
        y.sum().backward()
