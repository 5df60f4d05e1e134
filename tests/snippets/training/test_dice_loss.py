"""dice-loss: against F1 of scikit-learn, a float64 loop and hand-worked numbers."""

import math
import re

import pytest
import torch
from sklearn.metrics import f1_score, jaccard_score
from torch.nn import functional as F

from tests.helpers import load_snippet, raises_as_documented, recipes

ANSWER = recipes()["dice-loss"].answer
dice_loss = load_snippet("training/dice_loss.py").dice_loss
PAGE = "training/dice-loss"
LOGITS, TARGET = torch.randn(2, 3, 8, 8), torch.randint(3, (2, 8, 8))


def by_hand(logits, target, eps):
    """1 - mean Dice of the classes in the target, pixel by pixel, in plain Python."""
    p = logits.double().softmax(1).movedim(1, -1).reshape(-1, 3).tolist()
    truth = target.flatten().tolist()
    scores = []
    for c in set(truth):
        overlap = sum(row[c] for row, t in zip(p, truth, strict=True) if t == c)
        total = sum(row[c] for row in p) + truth.count(c)
        scores.append((2 * overlap + eps) / (total + eps))
    return 1 - sum(scores) / len(scores)


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


def test_one_logit_per_pixel_as_the_page_writes_it():
    mask = torch.rand(4, 1, 512, 512) < 0.5
    right = torch.rand(mask.shape) < 0.9
    logits = 40 * (2.0 * torch.where(right, mask, ~mask) - 1).half()
    pair, value = re.findall(
        r"`(p, y = [^`]+|1 - \(2 [^`]+)`", recipes()["dice-loss"].pages["en"].body
    )
    names = {"logits": logits, "mask": mask}
    exec(pair, names)
    f1 = f1_score(mask.flatten(), (logits > 0).flatten())
    assert eval(value, names).item() == pytest.approx(1 - f1, rel=1e-4)


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


@pytest.mark.parametrize("present", [[0], [1], [0, 2], [1, 2]], ids=str)
def test_a_class_that_the_batch_lacks_does_not_count(present):
    target = torch.tensor(present)[torch.randint(len(present), (2, 8, 8))]
    expected = by_hand(LOGITS, target, 1.0)
    assert dice_loss(LOGITS, target).item() == pytest.approx(expected, rel=1e-5)


def test_2_of_21_classes_as_the_page_states():
    target = torch.zeros(4, 128, 128, dtype=torch.int64)
    target[:, :40, :40] = 5
    logits = F.one_hot(target, 21).movedim(-1, 1) * math.log(0.95 * 20 / 0.05)
    p, y = logits.softmax(1), F.one_hot(target, 21).movedim(-1, 1)
    area, dims = y.sum((0, 2, 3)), (0, 2, 3)
    over_all = 1 - ((2 * (p * y).sum(dims) + 1) / (p.sum(dims) + area + 1)).mean()
    assert f"{p.gather(1, target[:, None]).mean():.2f}" == "0.95"
    assert f"{over_all:.1f}" == "0.9"
    assert f"{dice_loss(logits, target):.2f}" == "0.03"


def test_the_classes_of_a_batch_are_learnt():
    """Each batch holds 2 of 21 classes; after training every class is found."""
    generator = torch.Generator().manual_seed(0)
    logits = torch.zeros(21, 21, requires_grad=True)  # of an input's class
    optimizer = torch.optim.Adam([logits], lr=0.1)
    for _ in range(300):
        classes = torch.randperm(21, generator=generator)[:2]
        target = classes[torch.randint(2, (1, 8, 8), generator=generator)]
        loss = dice_loss(logits[target].movedim(-1, 1), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert torch.equal(logits.argmax(1), torch.arange(21))


@pytest.mark.parametrize("ignored", [False, True])
def test_the_answer_as_it_is_pasted(ignored):
    target = torch.tensor([[[0, 1], [1, 0]]])  # class 2 is not there
    logits = torch.randn(1, 3, 2, 2)
    if ignored:
        target[0, 1] = 255
    names = {"logits": logits, "target": target}
    assert set(ANSWER.yours) == set(names)
    exec(ANSWER.text, names)
    kept = slice(0, 1 if ignored else 2)
    logits, target = logits[:, :, kept], target[:, kept]
    expected = F.cross_entropy(logits, target) + by_hand(logits, target, 1.0)
    torch.testing.assert_close(names["loss"], expected)


def test_bfloat16_and_volumes():
    logits, target = torch.randn(1, 3, 2, 4, 4), torch.randint(3, (1, 2, 4, 4))
    flat = dice_loss(logits.flatten(2), target.flatten(1))
    torch.testing.assert_close(dice_loss(logits, target), flat)
    rounded = dice_loss(logits.bfloat16(), target)
    assert rounded.dtype == torch.float32
    torch.testing.assert_close(rounded, flat, atol=0.01, rtol=0.01)


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
    assert dice_loss(big, target).item() == pytest.approx(1 / 3, rel=1e-4)


def test_messages():
    hard = LOGITS.clone().requires_grad_().argmax(1)
    with raises_as_documented(PAGE, "RuntimeError: element 0"):
        (1 - (hard == TARGET).float().mean()).backward()
    with raises_as_documented(PAGE, "RuntimeError: Class values must be smaller"):
        dice_loss(LOGITS, TARGET + 1)
    with raises_as_documented(PAGE, "RuntimeError: Class values must be smaller"):
        dice_loss(LOGITS[:, :1], TARGET.clamp(max=1))
    unlabelled = TARGET.clone()
    unlabelled[:, :2] = -100
    with raises_as_documented(PAGE, "RuntimeError: Class values must be non"):
        dice_loss(LOGITS, unlabelled)
    expected = dice_loss(LOGITS[:, :, 2:], TARGET[:, 2:])
    found = dice_loss(LOGITS, unlabelled, ignore_index=-100)
    torch.testing.assert_close(found, expected)
    with raises_as_documented(PAGE, "IndexError: The shape of the mask"):
        dice_loss(LOGITS, TARGET[:, None])
    with raises_as_documented(PAGE, "RuntimeError: one_hot is only"):
        dice_loss(LOGITS, TARGET.byte())
    mask = 255 * (TARGET[0] > 0).float()
    assert 1 - 2 * mask.sum() / (mask.sum() + mask.numel()) < 0
