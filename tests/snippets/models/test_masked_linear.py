"""masked-linear: against sums over the connections, and by what depends on what."""

import copy

import numpy as np
import pytest
import torch
from torch import nn
from torch.autograd.functional import jacobian
from torch.nn.utils import parametrize, prune

from tests.helpers import load_snippet, raises_as_documented, recipes

PAGE = "models/masked-linear"
ANSWER = recipes()["masked-linear"].answer
Mask = load_snippet("models/mask_parametrization.py").Mask
OPTIMIZERS = {
    "sgd": lambda p: torch.optim.SGD(p, 0.1, momentum=0.9, weight_decay=0.1),
    "adam": lambda p: torch.optim.Adam(p, 0.1, weight_decay=0.1),
    "adamw": lambda p: torch.optim.AdamW(p, 0.1, weight_decay=0.1),
}


def masked_linear(mask, **options):
    names = {}
    exec(ANSWER.text, names)
    return names["MaskedLinear"](mask, **options)


@pytest.fixture
def mask():
    return torch.tensor([[1, 0, 1, 0], [0, 0, 0, 0], [1, 1, 1, 1], [0, 1, 0, 0.0]] * 2)


def steps(layer, optimizer, n=5):
    for _ in range(n):
        optimizer.zero_grad()
        layer(torch.randn(6, 4)).square().sum().backward()
        optimizer.step()


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_sum_over_the_connections(mask, bias, dtype):
    layer = masked_linear(mask, bias=bias).to(dtype)
    x = torch.randn(3, 4, dtype=dtype)
    y = layer(x)
    assert y.dtype == dtype
    w = layer.weight.detach().numpy()
    for n in range(3):
        for o in range(8):
            total = sum(w[o, i] * x[n, i].item() for i in range(4) if mask[o, i])
            total += layer.bias[o].item() if bias else 0
            np.testing.assert_allclose(y[n, o].item(), total, rtol=1e-4, atol=1e-6)
    assert set(layer.state_dict()) - {"bias"} == {"weight", "mask"}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_masked_weights_never_count(mask, name):
    layer, hidden = masked_linear(mask), mask == 0
    start = layer.weight.detach().clone()
    steps(layer, OPTIMIZERS[name](layer.parameters()))
    assert layer.weight.grad[hidden].eq(0).all()
    assert not torch.equal(layer.weight[hidden], start[hidden])  # decayed
    depends = jacobian(layer, torch.randn(4))
    assert depends[hidden].eq(0).all()
    assert depends[~hidden].ne(0).all()
    with torch.no_grad():
        layer.weight *= layer.mask
    steps(layer, OPTIMIZERS[name](layer.parameters()))
    assert layer.weight[hidden].eq(0).all()


def test_the_demonstration():
    found = load_snippet("models/masked_linear.py")
    assert torch.equal(found.layer.weight.grad != 0, torch.ones(4, 4).tril().bool())


def test_zeros_set_once_are_filled(mask):
    layer = nn.Linear(4, 8)
    layer.weight.data *= mask
    steps(layer, torch.optim.SGD(layer.parameters(), 0.01), 1)
    assert layer.weight[mask == 0].ne(0).all()


def test_a_hook_does_not_stop_momentum(mask):
    layer = nn.Linear(4, 8)
    optimizer = torch.optim.SGD(layer.parameters(), 0.01, momentum=0.9)
    steps(layer, optimizer, 1)
    layer.weight.data *= mask
    layer.weight.register_hook(lambda g: g * mask)
    steps(layer, optimizer, 1)
    assert layer.weight.grad[mask == 0].eq(0).all()
    assert layer.weight[mask == 0].ne(0).all()


def test_initialised_for_the_connections_there_are():
    torch.manual_seed(0)
    n, k, x = 400, 4, torch.randn(500, 400)
    mask = torch.zeros(300, n)
    mask[:, :k] = 1
    layer, few = masked_linear(mask, bias=False), nn.Linear(k, 300, bias=False)
    small = layer(x).std().item()
    with torch.no_grad():
        layer.weight *= (n / mask.sum(1, keepdim=True).clamp(min=1)).sqrt()
    expected = few(x[:, :k]).std().item()
    assert small < expected / 5
    assert layer(x).std().item() == pytest.approx(expected, rel=0.1)


def test_groups_are_blocks():
    grouped = nn.Conv1d(6, 4, 1, groups=2, bias=False)
    mask = torch.block_diag(*[torch.ones(2, 3)] * 2)
    layer = masked_linear(mask, bias=False)
    with torch.no_grad():
        layer.weight[:2, :3] = grouped.weight[:2, :, 0]
        layer.weight[2:, 3:] = grouped.weight[2:, :, 0]
    x = torch.randn(5, 6)
    torch.testing.assert_close(layer(x), grouped(x[:, :, None])[..., 0])
    assert grouped.weight.numel() == mask.sum() < mask.numel()


def test_autoregressive():
    order, hidden = torch.arange(4), torch.arange(32) % 4
    made = nn.Sequential(
        masked_linear(hidden[:, None] >= order),
        nn.Tanh(),
        masked_linear(order[:, None] > hidden),
    )
    depends = jacobian(made, torch.randn(4)) != 0
    assert torch.equal(depends, torch.ones(4, 4).tril(-1).bool())


def test_the_fast_path_of_a_transformer():
    mask, x = torch.ones(16, 8).tril(), torch.randn(1, 3, 8)
    model = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True).eval()
    plain = model.linear1
    model.linear1 = masked_linear(mask)
    model.linear1.load_state_dict(plain.state_dict(), strict=False)
    expected = model(x)  # with a gradient, without the fast path
    with torch.no_grad():
        assert not torch.allclose(model(x), expected, atol=1e-3)
    model.linear1 = plain
    parametrize.register_parametrization(plain, "weight", Mask(mask))
    with torch.no_grad():
        torch.testing.assert_close(model(x), expected)


def test_ready_made(mask):
    layer, hidden, x = nn.Linear(4, 8), mask == 0, torch.randn(4)
    prune.custom_from_mask(layer, "weight", mask)
    steps(layer, OPTIMIZERS["adam"](layer.parameters()))
    depends = jacobian(layer, x)
    assert depends[hidden].eq(0).all()
    assert depends[~hidden].ne(0).all()
    assert layer.weight_orig.grad[hidden].eq(0).all()
    with pytest.raises(RuntimeError, match="deepcopy"):
        copy.deepcopy(layer)
    copy.deepcopy(masked_linear(mask))


def test_a_random_mask_is_saved():
    torch.manual_seed(0)
    out, n = 100, 50
    layers = [masked_linear(torch.rand(out, n) < 0.1) for _ in range(2)]
    assert layers[0].mask.float().mean().item() == pytest.approx(0.1, abs=0.02)
    layers[1].load_state_dict(layers[0].state_dict())
    assert torch.equal(layers[0].mask, layers[1].mask)


def test_the_messages():
    layer, mask = nn.Linear(4, 5), torch.ones(5, 4)
    with raises_as_documented(PAGE, "RuntimeError: addmm: mat1"):
        masked_linear(mask.T)(torch.ones(8, 4))
    masked = masked_linear(mask)
    with raises_as_documented(PAGE, "RuntimeError: Error(s) in loading"):
        masked.load_state_dict(layer.state_dict())
    masked.load_state_dict(layer.state_dict(), strict=False)
    assert torch.equal(masked.weight, layer.weight)
    with raises_as_documented(PAGE, "RuntimeError: The size of tensor a (4)"):
        parametrize.register_parametrization(layer, "weight", Mask(mask.T))
    layer = nn.Linear(4, 5)
    with raises_as_documented(PAGE, "TypeError: cannot assign"):
        layer.weight = layer.weight * mask
    with raises_as_documented(PAGE, "RuntimeError: a leaf Variable"):
        layer.weight *= mask
