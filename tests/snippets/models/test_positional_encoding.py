"""positional-encoding: against the paper's formula in a float64 loop."""

import math

import pytest
import torch
from torch import nn

from tests.helpers import load_snippet, raises_as_documented

PAGE = "models/positional-encoding"
PositionalEncoding = load_snippet("models/positional_encoding.py").PositionalEncoding


def paper(position: float, dim: int) -> list[float]:
    row = []
    for column in range(dim):
        angle = position / 10000 ** (2 * (column // 2) / dim)
        row.append(math.cos(angle) if column % 2 else math.sin(angle))
    return row


@pytest.mark.parametrize("dim", [1, 2, 5, 6, 64])
def test_the_table_is_that_of_the_paper(dim):
    pe = PositionalEncoding(dim, T=200).pe
    expected = torch.tensor([paper(p, dim) for p in range(200)])
    torch.testing.assert_close(pe, expected, atol=2e-5, rtol=0)
    assert PositionalEncoding(dim).pe.shape == (5000, dim)


def test_each_token_gets_its_position():
    encode = PositionalEncoding(6)
    x = torch.randn(2, 3, 6)
    y = encode(x)
    for n in range(2):
        for t in range(3):
            torch.testing.assert_close(y[n, t], x[n, t] + encode.pe[t])


def test_one_token_at_a_time_needs_its_row():
    encode, x = PositionalEncoding(6), torch.randn(2, 4, 6)
    one = x[:, 3:]
    torch.testing.assert_close(encode(one), one + encode.pe[0])
    torch.testing.assert_close(one + encode.pe[3], encode(x)[:, 3:])


def test_a_buffer_outside_the_state_dict():
    encode = PositionalEncoding(6)
    assert not encode.state_dict()
    assert not [*encode.parameters()]
    assert [name for name, _ in encode.named_buffers()] == ["pe"]
    assert encode.double().pe.dtype == torch.float64
    PositionalEncoding(6, T=9000).load_state_dict(encode.state_dict())


def test_the_class_for_time_first_ignores_the_order():
    pe = PositionalEncoding(8).pe[:, None]  # (max_len, 1, C), as in tutorials
    x = torch.zeros(2, 6, 8)
    y = x + pe[: x.size(0)]
    assert all(torch.equal(y[1, t], pe[1, 0]) for t in range(6))
    right = x.transpose(0, 1) + pe[:6]  # (T, N, C)
    assert torch.equal(right.transpose(0, 1), PositionalEncoding(8)(x))


def test_messages():
    pe, angle = torch.zeros(5, 5), torch.zeros(5, 3)
    with raises_as_documented(PAGE, "RuntimeError: The expanded size"):
        pe[:, 1::2] = angle.cos()
    with raises_as_documented(PAGE, "RuntimeError: The size of tensor a"):
        PositionalEncoding(8, T=5)(torch.zeros(2, 6, 8))


def test_the_order_matters_to_attention_only_with_positions():
    torch.manual_seed(0)
    attention = nn.MultiheadAttention(8, 2, batch_first=True)
    x = torch.randn(1, 4, 8)
    for add, same in ((nn.Identity(), True), (PositionalEncoding(8), False)):
        y, z = (attention(*[add(v)] * 3)[0].mean(1) for v in (x, x.flip(1)))
        assert torch.allclose(y, z, atol=1e-5) is same


def test_fractional_steps():
    t, dim = torch.tensor([0.5, 3.0]), 6
    angle = t[:, None] / 1e4 ** (torch.arange(0, dim, 2) / dim)
    step = torch.stack([angle.sin(), angle.cos()], -1).flatten(1)
    torch.testing.assert_close(step, torch.tensor([paper(p, dim) for p in (0.5, 3)]))
    torch.testing.assert_close(step[1], PositionalEncoding(dim).pe[3])


@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_bfloat16_and_another_device(device):
    encode = PositionalEncoding(6).to(device, torch.bfloat16)
    x = torch.ones(2, 3, 6, device=device, dtype=torch.bfloat16)
    y = encode(x)
    assert (y.dtype, y.device.type) == (torch.bfloat16, device)
    assert PositionalEncoding(6)(torch.ones(2, 3, 6).bfloat16()).dtype == y.dtype


def test_made_under_bfloat16_late_positions_still_differ(switches):
    torch.set_default_dtype(torch.bfloat16)
    pe = PositionalEncoding(8, T=1000).pe
    expected = torch.tensor(paper(999, 8), dtype=torch.float32)
    torch.testing.assert_close(pe[999].float(), expected, atol=1e-3, rtol=0)
