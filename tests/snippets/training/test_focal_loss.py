"""focal-loss: against torchvision, a float64 loop and the cross entropy."""

import math

import pytest
import torch
from torch.nn import functional as F
from torchvision.ops import sigmoid_focal_loss

from tests.helpers import load_snippet, raises_as_documented

focal_loss = load_snippet("training/focal_loss.py").focal_loss
PAGE = "training/focal-loss"
LOGITS, TARGET = torch.randn(6, 3), torch.tensor([0, 1, 2, 2, 1, 0])
ALPHA = torch.tensor([1.0, 2.0, 3.0])


def by_hand(logits, target, gamma, alpha):
    """The mean over the samples, in plain Python."""
    losses = []
    for row, t in zip(logits.tolist(), target.tolist(), strict=True):
        p = math.exp(row[t]) / sum(map(math.exp, row))
        losses.append(-alpha[t] * (1 - p) ** gamma * math.log(p))
    return sum(losses) / len(losses)


@pytest.mark.parametrize("gamma", [0.0, 1.0, 2.0, 5.0])
@pytest.mark.parametrize("alpha", [None, ALPHA], ids=["plain", "weighted"])
def test_it_is_the_loop(gamma, alpha):
    weights = [1.0] * 3 if alpha is None else alpha.tolist()
    expected = by_hand(LOGITS.double(), TARGET, gamma, weights)
    loss = focal_loss(LOGITS, TARGET, gamma, alpha)
    assert loss.item() == pytest.approx(expected, rel=1e-5)
    if alpha is not None:
        assert focal_loss(LOGITS, TARGET, gamma, weights) == loss  # a list


def test_alpha_of_another_dtype():
    loss = focal_loss(LOGITS, TARGET, alpha=ALPHA)
    assert focal_loss(LOGITS, TARGET, alpha=ALPHA.double().numpy()) == loss
    low = focal_loss(LOGITS.bfloat16(), TARGET, alpha=ALPHA)
    assert low.dtype == torch.float32
    torch.testing.assert_close(low, loss, rtol=0.03, atol=0.03)


def test_bytes_of_a_mask_with_alpha():
    """Indexing by bytes is indexing by a mask."""
    loss = focal_loss(LOGITS, TARGET, alpha=ALPHA)
    assert focal_loss(LOGITS, TARGET.byte(), alpha=ALPHA) == loss


def test_gamma_is_2_unless_given():
    torch.testing.assert_close(
        focal_loss(LOGITS, TARGET), focal_loss(LOGITS, TARGET, 2)
    )


def test_without_gamma_it_is_the_cross_entropy_of_masks_too():
    logits, target = torch.randn(2, 3, 4, 5), torch.randint(3, (2, 4, 5))
    target[0, 0] = -100
    loss = focal_loss(logits, target, gamma=0)
    torch.testing.assert_close(loss, F.cross_entropy(logits, target))


def test_two_classes_are_those_of_torchvision():
    z, y = torch.randn(10), torch.arange(10) % 2
    two = torch.stack((torch.zeros(10), z), 1)  # the softmax is then the sigmoid of z
    alpha = torch.tensor([0.75, 0.25])
    expected = sigmoid_focal_loss(z, y.float(), alpha=0.25, gamma=2, reduction="mean")
    torch.testing.assert_close(focal_loss(two, y, alpha=alpha), expected)
    plain = sigmoid_focal_loss(z, y.float(), alpha=-1, reduction="mean")
    torch.testing.assert_close(focal_loss(two, y), plain)
    ce = F.binary_cross_entropy_with_logits(z, y.float(), reduction="none")
    torch.testing.assert_close(((1 - (-ce).exp()) ** 2 * ce).mean(), plain)


def test_ignored_targets_do_not_count():
    target = torch.tensor([0, 255, 2, 255, 1, 0])
    keep = target != 255
    loss = focal_loss(LOGITS, target, alpha=ALPHA, ignore_index=255)
    expected = focal_loss(LOGITS[keep], target[keep], alpha=ALPHA)
    torch.testing.assert_close(loss, expected)
    assert focal_loss(LOGITS, torch.full((6,), -100)) == 0


def test_a_weight_inside_the_cross_entropy_is_not_the_same():
    ce = F.cross_entropy(LOGITS, TARGET, ALPHA, reduction="none")
    p = LOGITS.softmax(1)[torch.arange(6), TARGET]
    torch.testing.assert_close((-ce).exp(), p ** ALPHA[TARGET])


def test_the_shares_the_page_states():
    for p, share in ((0.9, 0.01), (0.1, 0.81)):
        logits = torch.tensor([[p, 1 - p]]).log()
        ratio = focal_loss(logits, torch.tensor([0])) / -math.log(p)
        assert ratio.item() == pytest.approx(share, rel=1e-4)
    assert torch.tensor(-4.6).sigmoid().item() == pytest.approx(0.01, rel=0.01)


@pytest.mark.parametrize("gamma", [0.0, 0.5, 1.0, 2.0])
def test_the_gradient_where_the_model_is_certain(gamma):
    logits = torch.tensor([[200.0, 0.0], [0.0, 200.0]], requires_grad=True)
    loss = focal_loss(logits, torch.tensor([0, 0]), gamma)
    loss.backward()
    assert loss == 100  # no log(0)
    assert logits.grad.isfinite().all() == (gamma != 0.5)


def test_messages():
    z, y = torch.randn(4, 3, requires_grad=True), torch.tensor([0, 1, 2, 1])
    with raises_as_documented(PAGE, "RuntimeError: grad can be"):
        sigmoid_focal_loss(z, F.one_hot(y).float()).backward()
    with raises_as_documented(PAGE, "ValueError: Target size"):
        sigmoid_focal_loss(z, y.float())
    with raises_as_documented(PAGE, "RuntimeError: result type"):
        sigmoid_focal_loss(z, F.one_hot(y))
    with raises_as_documented(PAGE, "IndexError: Target 3"):
        focal_loss(z, y + 1)
    with raises_as_documented(PAGE, "RuntimeError: expected target dtype"):
        focal_loss(z, y.float())
    with pytest.raises(RuntimeError, match="dtype to be Long or Byte, but got Int"):
        focal_loss(z, y.int())
    logits, masks = torch.randn(2, 3, 4, 5), torch.ones(2, 1, 4, 5).long()
    with raises_as_documented(PAGE, "IndexError: The shape of the mask"):
        focal_loss(logits, masks)
    assert focal_loss(logits, masks.squeeze(1)) > 0
    with raises_as_documented(PAGE, "IndexError: too many indices"):
        focal_loss(z, y, alpha=0.25)
