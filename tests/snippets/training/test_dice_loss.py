"""dice-loss: against F1 of scikit-learn, a float64 loop and hand-worked numbers."""

import pytest
import torch
from sklearn.metrics import f1_score, jaccard_score
from torch.nn import functional as F

from tests.helpers import load_snippet, raises_as_documented

dice_loss = load_snippet("training/dice_loss.py").dice_loss
PAGE = "training/dice-loss"
LOGITS, TARGET = torch.randn(2, 3, 8, 8), torch.randint(3, (2, 8, 8))


def by_hand(logits, target, eps):
    """1 - mean Dice of the classes, pixel by pixel, in plain Python."""
    p = logits.double().softmax(1).movedim(1, -1).reshape(-1, 3).tolist()
    truth = target.flatten().tolist()
    scores = []
    for c in range(3):
        overlap = sum(row[c] for row, t in zip(p, truth, strict=True) if t == c)
        total = sum(row[c] for row in p) + truth.count(c)
        scores.append((2 * overlap + eps) / (total + eps))
    return 1 - sum(scores) / 3


@pytest.mark.parametrize("eps", [1.0, 1e-6, 5.0])
def test_it_is_the_loop(eps):
    expected = by_hand(LOGITS, TARGET, eps)
    assert dice_loss(LOGITS, TARGET, eps).item() == pytest.approx(expected, rel=1e-5)


def test_eps_is_1_unless_given():
    assert dice_loss(LOGITS, TARGET) == dice_loss(LOGITS, TARGET, 1.0)


def test_of_certain_predictions_it_is_f1():
    pred = torch.randint(3, (2, 8, 8))
    certain = 200 * F.one_hot(pred, 3).movedim(-1, 1).float()
    f1 = f1_score(TARGET.flatten(), pred.flatten(), average="macro")
    assert dice_loss(certain, TARGET, 0).item() == pytest.approx(1 - f1, rel=1e-5)


def test_variants():
    pred = torch.randint(2, (1, 8, 8))
    y, p = (TARGET[0] > 0).float().flatten(), pred.float().flatten()
    overlap, total = (p * y).sum(), p.sum() + y.sum()
    iou = overlap / (total - overlap)
    assert iou.item() == pytest.approx(jaccard_score(y, p), rel=1e-5)
    fp, fn = p.sum() - overlap, y.sum() - overlap
    tversky = (overlap + 0.5) / (overlap + 0.5 * fp + 0.5 * fn + 0.5)
    torch.testing.assert_close(tversky, (2 * overlap + 1) / (total + 1))


def test_ignored_pixels_do_not_count():
    target = TARGET.clone()
    target[:, 4:] = 255
    expected = dice_loss(LOGITS[:, :, :4], TARGET[:, :4])
    torch.testing.assert_close(dice_loss(LOGITS, target), expected)
    logits = LOGITS.clone().requires_grad_()
    dice_loss(logits, target).backward()
    assert logits.grad[:, :, 4:].count_nonzero() == 0
    assert logits.grad[:, :, :4].count_nonzero() > 0
    assert dice_loss(LOGITS, torch.full((2, 8, 8), 255)) == 0


def test_an_absent_class():
    empty = torch.zeros(1, 64, 64, dtype=torch.int64)
    right = torch.zeros(1, 2, 64, 64)
    right[:, 0] = 200
    assert dice_loss(right, empty) == 0
    assert dice_loss(right, empty, eps=0).isnan()
    nearly = right / 200 * 7  # p = 0.001 for the object
    assert dice_loss(nearly, empty, eps=1e-6).item() == pytest.approx(0.5, abs=0.01)
    assert dice_loss(nearly, empty) < 0.4  # of 0.5 for the one class


def test_background_everywhere():
    target = torch.zeros(2, 64, 64, dtype=torch.int64)
    target[:, :4, :4] = 1
    logits = torch.zeros(2, 2, 64, 64)
    logits[:, 0] = 5
    assert F.cross_entropy(logits, target) < 0.05
    assert dice_loss(logits, target) > 0.45
    assert f"{(target == 1).float().mean():.1%}" == "0.4%"


def test_half_precision_does_not_overflow():
    big = torch.zeros(1, 2, 400, 400, dtype=torch.float16)
    target = torch.zeros(1, 400, 400, dtype=torch.int64)
    assert torch.ones(70_000, dtype=torch.float16).sum().isinf()
    assert dice_loss(big, target).item() == pytest.approx(
        1 - (160_000 / 240_000 + 1 / 80_001) / 2, rel=1e-4
    )


def test_messages():
    hard = LOGITS.clone().requires_grad_().argmax(1)
    with raises_as_documented(PAGE, "RuntimeError: element 0"):
        (1 - (hard == TARGET).float().mean()).backward()
    with raises_as_documented(PAGE, "RuntimeError: Class values"):
        dice_loss(LOGITS, TARGET + 1)
    with raises_as_documented(PAGE, "IndexError: The shape of the mask"):
        dice_loss(LOGITS, TARGET[:, None])
    with raises_as_documented(PAGE, "RuntimeError: one_hot is only"):
        dice_loss(LOGITS, TARGET.byte())
    mask = 255 * (TARGET[0] > 0).float()
    assert 1 - 2 * mask.sum() / (mask.sum() + mask.numel()) < 0
