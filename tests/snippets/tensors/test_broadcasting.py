"""broadcasting: the rule and the results against NumPy and loops."""

import itertools

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from tests.chains.pasted import answer
from tests.helpers import assert_documented, load_snippet, raises_as_documented

PAGE = "tensors/broadcasting"
WARNS = "UserWarning: Using a target size"
snippet = load_snippet("tensors/broadcasting.py")


def test_each_operand_meets_its_own_dimension():
    x, bias, gain = snippet.x, snippet.bias, snippet.gain
    shape = torch.broadcast_shapes(x.shape, bias.shape)
    assert tuple(shape) == np.broadcast_shapes((8, 3, 4), (4,)) == x.shape
    for b, t, c in itertools.product(range(8), range(3), range(4)):
        assert snippet.shifted[b, t, c] == x[b, t, c] + bias[c]
        assert snippet.scaled[b, t, c] == x[b, t, c] * gain[b]


def test_the_loss_is_zero_and_the_broadcast_one_is_not():
    assert snippet.loss.item() == 0
    labels = snippet.y.tolist()
    pairs = [[(p - t) ** 2 for t in labels] for p in labels]
    assert snippet.wrong.tolist() == pairs
    assert f"{snippet.wrong.mean():.2f}" == "1.33"


def test_the_answer_for_one_sample_and_in_bfloat16():
    for n, dtype in ((1, torch.float32), (5, torch.bfloat16)):
        y = torch.randn(n, dtype=dtype)
        names = {"y": y, "pred": y[:, None] + 2, "x": torch.rand(n, 3, 4, dtype=dtype)}
        names |= {"bias": torch.rand(4, dtype=dtype), "gain": torch.rand(n).to(dtype)}
        exec(answer("broadcasting"), names)
        torch.testing.assert_close(names["loss"], y.new_tensor(4), rtol=0.02, atol=0)
        assert names["shifted"].shape == names["scaled"].shape == (n, 3, 4)


def test_the_rule_is_that_of_numpy():
    sizes = [s for n in range(4) for s in itertools.product((1, 2, 3), repeat=n)]
    for a, b in itertools.product(sizes, repeat=2):
        try:
            expected = np.broadcast_shapes(a, b)
        except ValueError:
            with pytest.raises(RuntimeError):
                torch.broadcast_shapes(a, b)
        else:
            assert torch.broadcast_shapes(a, b) == expected


@pytest.mark.parametrize(
    "loss", [F.mse_loss, F.l1_loss, F.smooth_l1_loss, F.huber_loss]
)
def test_losses_warn_and_arithmetic_does_not(loss):
    pred, y = torch.zeros(3, 1), torch.zeros(3)
    with pytest.warns(UserWarning, match="target size") as caught:
        loss(pred, y)
    assert_documented(PAGE, WARNS, f"UserWarning: {caught[0].message}")
    assert (pred - y).shape == (3, 3)


def test_poisson_loss_and_equal_sizes_say_nothing():
    pred, y = torch.rand(3, 1), torch.rand(3)
    each = (pred.exp() - y * pred).mean()  # (N, N)
    torch.testing.assert_close(F.poisson_nll_loss(pred, y), each)
    x, gain = torch.ones(2, 3, 2), torch.tensor([1.0, 2.0])  # B is D
    assert (x * gain)[0].tolist() == [[1, 2]] * 3
    assert (x * gain[:, None, None])[0].tolist() == [[1, 1]] * 3


def test_an_accuracy_above_one():
    pred, y = torch.ones(4, 1), torch.ones(4)
    assert ((pred > 0.5) == y).sum() / len(y) == 4
    assert ((pred.squeeze(1) > 0.5) == y).sum() / len(y) == 1


def test_what_does_not_fit_is_refused():
    with raises_as_documented(PAGE, "RuntimeError: The size of tensor a (4)"):
        torch.zeros(8, 3, 4) * torch.zeros(8)
    with raises_as_documented(PAGE, "ValueError: Target size"):
        F.binary_cross_entropy_with_logits(torch.zeros(4, 1), torch.zeros(4))
    with raises_as_documented(PAGE, "ValueError: Using a target size"):
        F.binary_cross_entropy(torch.zeros(4, 1), torch.zeros(4))
    with raises_as_documented(PAGE, "RuntimeError: output with shape"):
        torch.zeros(4).add_(torch.zeros(3, 4))
    with raises_as_documented(PAGE, "RuntimeError: The expanded size of"):
        torch.zeros(3, 4)[:] = torch.zeros(3)


def test_labels_can_take_the_shape_of_the_predictions():
    pred, y = torch.randn(4, 1), torch.randn(4)
    torch.testing.assert_close(
        F.mse_loss(pred, y[:, None]), F.mse_loss(pred.squeeze(1), y)
    )
    torch.testing.assert_close(y.view_as(pred), y.unsqueeze(1))
