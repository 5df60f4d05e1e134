"""conv1d-sequences: against a loop over the past in float64, and no future."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from tests.helpers import load_snippet, raises_as_documented

PAGE = "models/conv1d-sequences"
CausalConv1d = load_snippet("models/conv1d_sequences.py").CausalConv1d


@pytest.mark.parametrize(("k", "d"), [(1, 1), (2, 1), (3, 1), (3, 2), (4, 5)])
def test_each_step_is_a_sum_over_the_past(k, d):
    torch.manual_seed(0)
    conv = CausalConv1d(3, 2, kernel_size=k, dilation=d).double()
    x = torch.randn(2, 3, 12).double()
    y = conv(x)
    assert y.shape == (2, 2, 12)
    for t in range(12):
        expected = conv.bias.expand(2, 2).clone()
        for j in range(k):
            step = t - d * (k - 1 - j)
            if step >= 0:
                expected += x[:, :, step] @ conv.weight[:, :, j].T
        torch.testing.assert_close(y[:, :, t], expected)


def test_no_step_sees_the_future_but_same_padding_does():
    for conv, sees in (
        (CausalConv1d(1, 1, 3), [4, 5, 6]),
        (CausalConv1d(1, 1, 3, padding=1), [4, 5, 6]),
        (CausalConv1d(1, 1, 3, bias=False), [4, 5, 6]),
        (nn.Conv1d(1, 1, 3, padding="same"), [5, 6, 7]),
        (nn.Conv1d(1, 1, 3, padding=1), [5, 6, 7]),
    ):
        x = torch.randn(1, 1, 10, requires_grad=True)
        conv(x)[0, 0, 6].backward()
        assert x.grad.flatten().nonzero().flatten().tolist() == sees


def test_padding_both_sides_and_cutting_the_end_is_the_same():
    conv, x = CausalConv1d(2, 3, 3, dilation=2), torch.randn(1, 2, 9)
    plain = nn.Conv1d(2, 3, 3, dilation=2, padding=4)
    plain.load_state_dict(conv.state_dict())
    torch.testing.assert_close(conv(x), plain(x)[..., :-4])


def test_a_stride_and_groups_as_in_the_layer_of_torch():
    conv = CausalConv1d(4, 4, 3, stride=2, dilation=2, groups=2).bfloat16()
    x = torch.randn(1, 4, 11).bfloat16()
    plain = nn.Conv1d(4, 4, 3, stride=2, dilation=2, groups=2).bfloat16()
    plain.load_state_dict(conv.state_dict())
    assert torch.equal(conv(x), plain(F.pad(x, (4, 0))))
    assert conv(x).shape == (1, 4, 6)


def test_receptive_field():
    layers = [CausalConv1d(1, 1, 3, dilation=d, bias=False) for d in (1, 2, 4)]
    for layer in layers:
        nn.init.ones_(layer.weight)
    x = torch.zeros(1, 1, 40)
    x[..., 0] = 1
    reached = nn.Sequential(*layers)(x).flatten().nonzero().flatten()
    assert reached.tolist() == list(range(15))


def test_layout():
    conv = CausalConv1d(3, 16, 3)
    x = torch.randn(8, 50, 3)
    with raises_as_documented(PAGE, "RuntimeError: Given groups=1"):
        nn.Conv1d(3, 16, 3)(x)
    assert conv(x.transpose(1, 2)).shape == (8, 16, 50)
    assert not torch.equal(x.view(8, 3, 50), x.transpose(1, 2))


def test_padding_at_the_end_is_not_seen():
    conv = nn.Sequential(CausalConv1d(3, 4, 3), nn.ReLU(), CausalConv1d(4, 4, 3))
    x = torch.randn(1, 3, 6)
    longer = F.pad(x, (0, 4))
    torch.testing.assert_close(conv(longer)[..., :6], conv(x))
    both = nn.Sequential(*[nn.Conv1d(3, 3, 3, padding=1) for _ in range(2)])
    assert not torch.allclose(both(longer)[..., :6], both(x))
    hidden = F.pad(both[0](longer)[..., :6], (0, 4))  # times the mask
    torch.testing.assert_close(both[1](hidden)[..., :6], both(x))


def test_variants():
    x = torch.randn(2, 16, 9)
    conv = CausalConv1d(16, 16, 3, dilation=4)
    assert (x + F.dropout(F.relu(conv(x)), 0.1, True)).shape == x.shape
    assert nn.Conv1d(16, 8, 5, padding="same")(x).mean(-1).shape == (2, 8)


@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_bfloat16_and_another_device(device):
    model = CausalConv1d(2, 4, kernel_size=3, dilation=2).to(device, torch.bfloat16)
    y = model(torch.ones(3, 2, 9, device=device, dtype=torch.bfloat16))
    assert (y.dtype, y.device.type) == (torch.bfloat16, device)
