"""classification-accuracy: against scikit-learn, over uneven batches."""

import numpy as np
import pytest
import torch
from sklearn import metrics
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from tests.helpers import ROOT, load_snippet, raises_as_documented

SNIPPET = "evaluation/classification_accuracy.py"
PAGE = "evaluation/classification-accuracy"
snippet = load_snippet(SNIPPET)
LOOP = (ROOT / "snippets" / SNIPPET).read_text("utf-8").partition("model.eval()")


def evaluate(model, batches, device="cpu") -> dict:
    """The snippet from ``model.eval()`` on, for another model and other batches."""
    names = {"torch": torch, "model": model, "loader": batches, "device": device}
    exec(LOOP[1] + LOOP[2], names)
    return names


def batches_of(logits, target, size):
    return DataLoader(TensorDataset(logits, target), size)


@pytest.fixture
def samples():
    generator = torch.Generator().manual_seed(0)
    logits = torch.randn(103, 7, generator=generator)
    return logits, torch.randint(7, (103,), generator=generator)


def test_the_run_equals_scikit_learn(capsys):
    s = snippet
    with torch.no_grad():
        logits = s.model(s.dataset.tensors[0].to(s.device)).cpu()
    target = s.dataset.tensors[1]
    expected = metrics.accuracy_score(target, logits.argmax(1))
    assert (s.top1 / s.total).item() == pytest.approx(expected)
    expected = metrics.top_k_accuracy_score(target, logits, k=5, labels=range(10))
    assert (s.top5 / s.total).item() == pytest.approx(expected)
    assert s.total == 103
    assert [len(y) for _, y in s.loader] == [32, 32, 32, 7]
    assert isinstance(s.device, torch.device)
    load_snippet(SNIPPET)
    share = f"top-1 {s.top1.item() / 103:.1%}, top-5 {s.top5.item() / 103:.1%}"
    assert capsys.readouterr().out == f"{share}\n"
    # dropout would have given others
    assert not s.model.training
    assert s.top1 != (s.model.train()(s.dataset.tensors[0]).argmax(1) == target).sum()
    s.model.eval()


@pytest.mark.parametrize("size", [1, 20, 103])
def test_the_batch_size_does_not_matter(samples, size):
    logits, target = samples
    names = evaluate(nn.Identity(), batches_of(*samples, size))
    expected = metrics.accuracy_score(target, logits.argmax(1), normalize=False)
    assert names["top1"] == expected
    expected = metrics.top_k_accuracy_score(
        target, logits, k=5, labels=range(7), normalize=False
    )
    assert names["top5"] == expected


def test_hand_worked_counts():
    logits = torch.tensor([[6.0, 5, 4, 3, 2, 1]] * 4)
    names = evaluate(nn.Identity(), [(logits, torch.tensor([0, 1, 4, 5]))])
    assert (names["top1"], names["top5"], names["total"]) == (1, 3, 4)


def test_the_model_is_evaluated_without_dropout_and_gradients():
    model, seen = nn.Sequential(nn.Dropout(), nn.Linear(5, 5)), []
    model.register_forward_hook(
        lambda module, *_: seen.append(
            (module[0].training, torch.is_inference_mode_enabled())
        )
    )
    evaluate(model.train(), [(torch.ones(2, 5), torch.zeros(2).long())] * 2)
    assert seen == [(False, True)] * 2
    assert not torch.is_inference_mode_enabled()


def test_no_value_is_read_before_the_last_batch(samples):
    """On meta, where tensors have no values, only the printing fails."""
    drawn = []

    def batches():
        for _ in range(3):
            drawn.append(samples)
            yield samples

    with pytest.raises(TypeError, match="format string"):
        evaluate(nn.Identity(), batches(), torch.device("meta"))
    assert len(drawn) == 3


def test_softmax_changes_nothing(samples):
    logits, target = samples
    expected = evaluate(nn.Identity(), [(logits, target)])
    names = evaluate(nn.Softmax(1), [(logits, target)])
    assert (names["top1"], names["top5"]) == (expected["top1"], expected["top5"])


def test_the_mean_over_batches_the_page_works_out():
    logits = torch.eye(5)[[0] * 101]
    target = torch.tensor([0] * 90 + [1] * 10 + [0])
    names = evaluate(nn.Identity(), batches_of(logits, target, 100))
    parts = [evaluate(nn.Identity(), [b]) for b in batches_of(logits, target, 100)]
    means = [(part["top1"] / part["total"]).item() for part in parts]
    whole = names["top1"] / names["total"]
    assert means == pytest.approx([0.9, 1.0])
    assert f"{np.mean(means):.3f} {whole:.3f}" == "0.950 0.901"


def test_a_column_of_targets_compares_all_with_all():
    pred, y = torch.tensor([0, 1, 1, 1]), torch.tensor([[0], [1], [1], [1]])
    assert (pred == y).shape == (4, 4)
    assert (pred == y).sum() / len(y) == 2.5  # "250 %"
    assert (pred == y.squeeze(1)).sum() / len(y) == 1


def test_the_documented_errors(samples):
    logits, target = samples
    with raises_as_documented(PAGE, "RuntimeError: selected index k"):
        evaluate(nn.Identity(), [(logits[:, :4], target % 4)])
    with raises_as_documented(PAGE, "ZeroDivisionError: division by zero"):
        evaluate(nn.Identity(), [])
    with raises_as_documented(PAGE, "RuntimeError: view size is"):
        # As read off Stack Overflow: view after a slice of the transpose.
        guesses = logits.topk(5).indices.T
        guesses.eq(target)[:5].view(-1).sum()
    five = evaluate(nn.Identity(), [(logits[:, :5], target % 5)])
    assert five["top5"] == five["total"]


def test_binary_and_several_labels():
    logits, y = torch.tensor([0.3, -2.0, 4.0]), torch.tensor([1.0, 0.0, 0.0])
    assert ((logits > 0) == y.bool()).sum() == 2
    assert torch.equal(logits > 0, logits.sigmoid() > 0.5)
    logits, y = torch.randn(50, 4), torch.randint(2, (50, 4))
    right = (logits > 0) == y.bool()
    loss = metrics.hamming_loss(y, logits > 0)
    assert right.float().mean().item() == pytest.approx(1 - loss)
    exact = metrics.accuracy_score(y, logits > 0)
    assert right.all(1).float().mean().item() == pytest.approx(exact)


def test_segmentation():
    logits, mask = torch.randn(2, 5, 3, 4), torch.randint(5, (2, 3, 4))
    mask[0, 0] = 255
    valid = mask != 255
    hits = (logits.argmax(1) == mask)[mask != 255].sum()
    flat = logits.movedim(1, -1).reshape(-1, 5)[valid.flatten()]
    expected = metrics.accuracy_score(mask[valid], flat.argmax(1))
    assert (hits / valid.sum()).item() == pytest.approx(expected)
