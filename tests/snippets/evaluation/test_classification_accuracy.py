"""classification-accuracy: against scikit-learn, over uneven batches."""

import numpy as np
import pytest
import torch
from sklearn import metrics
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from torchmetrics import Accuracy

from tests.helpers import ROOT, load_snippet, raises_as_documented

SNIPPET = "evaluation/classification_accuracy.py"
PAGE = "evaluation/classification-accuracy"
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


def test_the_run(capsys):
    s = load_snippet(SNIPPET)
    x, target = s.dataset.tensors
    with torch.no_grad():
        logits = s.model(x.to(s.device)).cpu()
    assert s.accuracy == pytest.approx(metrics.accuracy_score(target, logits.argmax(1)))
    assert capsys.readouterr().out.endswith(f": {s.correct.item() / 103:.1%}\n")
    assert [len(y) for _, y in s.loader] == [32, 32, 32, 7]
    assert not s.model.training  # dropout would have given another


@pytest.mark.parametrize("size", [1, 20, 103])
def test_the_batch_size_does_not_matter(samples, size):
    logits, target = samples
    names = evaluate(nn.Identity(), batches_of(*samples, size))
    expected = metrics.accuracy_score(target, logits.argmax(1), normalize=False)
    assert names["correct"] == expected
    assert names["accuracy"] == pytest.approx(expected / 103)


def test_hand_worked_counts():
    logits = torch.tensor([[6.0, 5, 4, 3, 2, 1]] * 4)
    names = evaluate(nn.Identity(), [(logits, torch.tensor([0, 1, 4, 5]))])
    assert (names["correct"], names["total"]) == (1, 4)


@pytest.mark.parametrize("dtype", [torch.uint8, torch.float32, torch.int64])
def test_a_column_of_targets_of_any_dtype(samples, dtype):
    logits, target = samples
    expected = evaluate(nn.Identity(), [(logits, target)])["accuracy"]
    column = [(logits, target[:, None].to(dtype))]
    assert evaluate(nn.Identity(), column)["accuracy"] == expected


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

    with pytest.raises(RuntimeError, match="meta"):
        evaluate(nn.Identity(), batches(), torch.device("meta"))
    assert len(drawn) == 3


def test_softmax_changes_nothing(samples):
    logits, target = samples
    expected = evaluate(nn.Identity(), [(logits, target)])
    names = evaluate(nn.Softmax(1), [(logits, target)])
    assert names["correct"] == expected["correct"]


def test_the_mean_over_batches_the_page_works_out():
    logits = torch.eye(5)[[0] * 101]
    target = torch.tensor([0] * 90 + [1] * 10 + [0])
    names = evaluate(nn.Identity(), batches_of(logits, target, 100))
    parts = [evaluate(nn.Identity(), [b]) for b in batches_of(logits, target, 100)]
    means = [part["accuracy"] for part in parts]
    whole = names["accuracy"]
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
        logits[:, :4].topk(5)
    with raises_as_documented(PAGE, "ZeroDivisionError: division by zero"):
        evaluate(nn.Identity(), [])
    with raises_as_documented(PAGE, "RuntimeError: view size is"):
        # As read off Stack Overflow: view after a slice of the transpose.
        guesses = logits.topk(5).indices.T
        guesses.eq(target)[:5].view(-1).sum()


def test_torchmetrics_counts_the_same(samples):
    logits, target = samples
    for k in (1, 5):
        metric = Accuracy("multiclass", num_classes=7, top_k=k)
        for x, y in batches_of(logits, target, 32):
            metric.update(x, y)
        expected = metrics.top_k_accuracy_score(target, logits, k=k, labels=range(7))
        assert metric.compute().item() == pytest.approx(expected)
    absent = Accuracy("multiclass", num_classes=9, average="none")
    each = absent(torch.cat([logits, torch.full((103, 2), -99)], 1), target)
    recall = metrics.recall_score(target, logits.argmax(1), average=None)
    np.testing.assert_allclose(each, [*recall, 0, 0], rtol=1e-6)


def test_one_logit_for_two_classes():
    """The page's line in the place of that with argmax, which is always 0."""
    line = "pred = (model(x.to(device)) > 0).flatten()"
    for lang in ("en", "zh"):
        assert line in (ROOT / f"docs/{lang}/{PAGE}.md").read_text("utf-8")
    logits, y = torch.randn(33, 1), torch.randint(2, (33,))
    assert not logits.argmax(1).any()
    for target in (y, y.float(), y[:, None].float(), y.bool()):
        names = {"model": nn.Identity(), "x": logits, "device": "cpu"}
        exec(line, names)
        right = (names["pred"] == target.flatten()).sum()
        assert right == metrics.accuracy_score(y, logits > 0, normalize=False)


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
