"""lora: against the formula in float64, and what trains."""

import pytest
import torch
from torch import nn

from tests.helpers import load_snippet

LoRALinear = load_snippet("llm/lora.py").LoRALinear


def layer(r: int = 3, alpha: float = 6.0) -> LoRALinear:
    torch.manual_seed(0)
    made = LoRALinear(nn.Linear(10, 7), r=r, alpha=alpha)
    nn.init.normal_(made.B)
    return made


def test_nothing_changes_at_first():
    linear, x = nn.Linear(10, 7), torch.randn(4, 10)
    torch.testing.assert_close(LoRALinear(linear)(x), linear(x))


def test_the_formula_in_float64():
    lora, x = layer(), torch.randn(4, 10)
    W, b = lora.linear.weight.double(), lora.linear.bias.double()
    W = W + 6.0 / 3 * lora.B.double() @ lora.A.double()
    torch.testing.assert_close(lora(x), (x.double() @ W.T + b).float())


def test_merging_keeps_the_output():
    lora, x = layer(), torch.randn(4, 10)
    y = lora(x)
    merged = lora.merge()
    assert type(merged) is nn.Linear
    torch.testing.assert_close(merged(x), y)
    torch.testing.assert_close(lora.merge()(x) - y, 2.0 * x @ lora.A.T @ lora.B.T)


def test_only_the_thin_matrices_train():
    lora = layer()
    trained = {name: p.shape for name, p in lora.named_parameters() if p.requires_grad}
    assert trained == {"A": (3, 10), "B": (7, 3)}
    lora(torch.randn(4, 10)).sum().backward()
    assert lora.linear.weight.grad is None


def test_the_first_step_moves_b_alone():
    lora = LoRALinear(nn.Linear(10, 7))
    lora(torch.randn(4, 10)).square().sum().backward()
    assert lora.B.grad.abs().max() > 0
    assert lora.A.grad.abs().max() == 0
    nn.init.zeros_(lora.A)
    lora.zero_grad()
    lora(torch.randn(4, 10)).square().sum().backward()
    assert lora.B.grad.abs().max() == 0  # both zero: nothing is learnt


def test_a_starts_as_in_the_authors_code():
    A = LoRALinear(nn.Linear(400, 7), r=64).A
    assert A.abs().max().item() == pytest.approx(1 / 20, rel=0.01)  # U(±1/√in)
    assert A.mean().item() == pytest.approx(0, abs=1e-3)


def test_defaults():
    assert LoRALinear(nn.Linear(10, 7)).scale == 16 / 8
    assert LoRALinear(nn.Linear(10, 7)).A.shape == (8, 10)
