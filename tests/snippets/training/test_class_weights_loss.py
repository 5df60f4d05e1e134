"""class-weights-loss: weights against scikit-learn, the mean against a loop."""

import numpy as np
import pytest
import torch
from sklearn.metrics import log_loss
from sklearn.utils.class_weight import compute_class_weight
from torch import nn
from torch.nn import functional as F

from tests.helpers import load_snippet, raises_as_documented, recipes

PAGE = "training/class-weights-loss"
ANSWER = recipes()["class-weights-loss"].answer
snippet = load_snippet("training/class_weights_loss.py")
TARGET = torch.tensor([0] * 90 + [1] * 9 + [2])


def test_the_weights_are_those_of_scikit_learn():
    options = {"classes": np.arange(3), "y": TARGET.numpy()}
    expected = compute_class_weight("balanced", **options)
    np.testing.assert_allclose(snippet.weight, expected, rtol=1e-6)
    np.testing.assert_allclose(snippet.weight * snippet.count, 100 / 3, rtol=1e-6)
    with pytest.raises(ValueError, match="classes should have valid labels"):
        compute_class_weight("balanced", classes=np.arange(4), y=TARGET.numpy())


def weights(labels, classes, ignore_index=-100, device="cpu"):
    """What the answer leaves, pasted with these labels."""
    names = {"train_labels": labels, "num_classes": classes, "device": device}
    assert set(ANSWER.yours) == set(names)
    code = ANSWER.text.replace("= -100", f"= {ignore_index}")
    exec(code, names)
    assert names["loss_fn"].ignore_index == ignore_index
    return names["loss_fn"].weight


@pytest.mark.parametrize(
    ("ignore_index", "dtype"), [(-100, torch.int64), (255, torch.uint8)], ids=str
)
def test_masks_with_pixels_to_ignore(ignore_index, dtype):
    masks = torch.randint(4, (5, 8, 8), dtype=dtype)
    masks[:, :3] = ignore_index
    labels = masks[:, 3:].flatten().numpy()
    options = {"classes": np.arange(4), "y": labels}
    expected = compute_class_weight("balanced", **options)
    np.testing.assert_allclose(weights(masks, 4, ignore_index), expected, rtol=1e-6)


def test_a_class_without_a_sample_has_a_finite_weight():
    assert weights(torch.tensor([0, 0, 1, -100]), 3).tolist() == pytest.approx(
        [4 / 6, 4 / 3, 4 / 3]
    )


def test_the_weights_are_moved():
    assert weights(TARGET, 3, device="meta").device.type == "meta"


def test_the_loss_is_the_weighted_log_loss():
    p = snippet.logits[:100].double().softmax(1)
    w = snippet.weight[TARGET]
    expected = log_loss(TARGET, p, sample_weight=w)
    assert snippet.loss.item() == pytest.approx(expected, rel=1e-5)


def test_what_is_ignored_has_no_share():
    assert (snippet.train_labels == -100).sum() == 20
    logits = snippet.logits.clone().requires_grad_()
    snippet.loss_fn(logits, snippet.train_labels).backward()
    assert logits.grad[100:].count_nonzero() == 0
    assert logits.grad[:100].count_nonzero() == 300


def test_the_output_of_the_snippet(capsys):
    load_snippet("training/class_weights_loss.py")
    assert capsys.readouterr().out == "weights [0.37, 3.7, 33.33]\n"


@pytest.mark.parametrize("target", [[2], [1, 1, 1]], ids=str)
def test_in_a_batch_of_one_class_weights_do_nothing(target):
    logits, target = torch.randn(len(target), 3), torch.tensor(target)
    plain = F.cross_entropy(logits, target)
    torch.testing.assert_close(F.cross_entropy(logits, target, snippet.weight), plain)
    fixed = F.cross_entropy(logits, target, snippet.weight, reduction="sum")
    factor = snippet.weight[target[0]]
    torch.testing.assert_close(fixed / len(target), factor * plain)


def test_ten_times_the_weights_change_nothing():
    logits = torch.randn(100, 3)
    loss = F.cross_entropy(logits, TARGET, snippet.weight)
    torch.testing.assert_close(
        F.cross_entropy(logits, TARGET, 10 * snippet.weight), loss
    )


def test_all_ignored_or_weightless_is_nan():
    logits, ignored = torch.randn(4, 3), torch.full((4,), -100)
    assert F.cross_entropy(logits, ignored).isnan()
    total = F.cross_entropy(logits, ignored, reduction="sum")
    assert total / (ignored != -100).sum().clamp(min=1) == 0
    zero = torch.tensor([0.0, 1.0, 1.0])
    assert F.cross_entropy(logits, torch.zeros(4).long(), zero).isnan()


def test_messages():
    logits, target = torch.randn(4, 3), torch.tensor([0, 1, 1, 0])
    with raises_as_documented(PAGE, "RuntimeError: weight tensor"):
        F.cross_entropy(logits, target, torch.bincount(target).float())
    with raises_as_documented(
        PAGE, "RuntimeError: expected scalar type Float but found D"
    ):
        F.cross_entropy(logits, target, torch.ones(3).double())
    with pytest.raises(RuntimeError, match="Float but found Long"):
        F.cross_entropy(logits, target, torch.ones(3).long())
    with raises_as_documented(PAGE, "RuntimeError: expected scalar type BFloat16"):
        F.cross_entropy(logits.bfloat16(), target, torch.ones(3))
    with pytest.raises(RuntimeError, match="Half but found Float"):
        F.cross_entropy(logits.half(), target, torch.ones(3))
    for labels in (torch.tensor([0, -100]), torch.ones(2, 2).long()):
        with raises_as_documented(PAGE, "RuntimeError: bincount only"):
            torch.bincount(labels, minlength=3)
    with raises_as_documented(PAGE, "IndexError: Target 255"):
        F.cross_entropy(logits, torch.tensor([0, 255, 1, 0]))
    with raises_as_documented(PAGE, "RuntimeError: ignore_index"):
        F.cross_entropy(logits, logits.softmax(1), ignore_index=1)
    with raises_as_documented(PAGE, "TypeError: cannot assign 'list'"):
        nn.CrossEntropyLoss(weight=[1.0, 2.0, 3.0])
