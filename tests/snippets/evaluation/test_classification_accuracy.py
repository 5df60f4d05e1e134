"""classification-accuracy: against scikit-learn, over uneven batches."""

import numpy as np
import pytest
import torch
from sklearn import metrics
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from tests.helpers import load_snippet, raises_as_documented

snippet = load_snippet("evaluation/classification_accuracy.py")
PAGE = "evaluation/classification-accuracy"
CPU = torch.device("cpu")


@pytest.fixture
def samples():
    generator = torch.Generator().manual_seed(0)
    logits = torch.randn(103, 7, generator=generator)
    return logits, torch.randint(7, (103,), generator=generator)


@pytest.mark.parametrize("k", [1, 3, 7])
def test_accuracies_equal_scikit_learn(samples, k):
    logits, target = samples
    loader = DataLoader(TensorDataset(*samples), batch_size=20)  # the last: 3
    result = snippet.accuracy(nn.Identity(), loader, CPU, k)
    expected = [
        metrics.top_k_accuracy_score(target, logits, k=i, labels=range(7))
        for i in range(1, k + 1)
        if i < 7  # scikit-learn calls k = C meaningless, and warns
    ] + [1.0] * (k == 7)
    assert result == pytest.approx(expected, rel=1e-12)
    assert result[0] == metrics.accuracy_score(target, logits.argmax(1))


def test_one_number_is_the_default(samples):
    logits, target = samples
    result = snippet.accuracy(nn.Identity(), [samples], CPU)
    assert result == [metrics.accuracy_score(target, logits.argmax(1))]
    assert snippet.count_correct(*samples).tolist() == [round(result[0] * 103)]


def test_hand_worked_counts():
    logits = torch.tensor([[3.0, 2, 1], [3, 2, 1], [3, 2, 1], [1, 3, 2]])
    target = torch.tensor([0, 1, 2, 2])
    counts = snippet.count_correct(logits, target, k=3)
    assert counts.tolist() == [1, 3, 4]
    assert counts.dtype == torch.int64


def test_softmax_changes_nothing(samples):
    logits, target = samples
    expected = snippet.count_correct(logits, target, k=7)
    assert torch.equal(snippet.count_correct(logits.softmax(1), target, 7), expected)


@pytest.mark.parametrize("change", ["column", "uint8", "strided", "bfloat16", "grad"])
def test_other_forms_of_the_same_batch(samples, change):
    logits, target = (
        tensor.round() if tensor.is_floating_point() else tensor for tensor in samples
    )
    logits = logits + torch.arange(7) / 16  # no ties, exact in bfloat16
    expected = snippet.count_correct(logits, target, k=4)
    if change == "column":
        target = target.unsqueeze(1)
    elif change == "uint8":
        target = target.to(torch.uint8)
    elif change == "strided":
        logits, target = logits.T.contiguous().T, target.repeat_interleave(2)[::2]
    elif change == "bfloat16":
        logits = logits.bfloat16()
    else:
        logits = logits.clone().requires_grad_()
    assert torch.equal(snippet.count_correct(logits, target, k=4), expected)


def test_no_samples():
    counts = snippet.count_correct(torch.zeros(0, 3), torch.zeros(0).long(), k=2)
    assert counts.tolist() == [0, 0]
    with raises_as_documented(PAGE):
        snippet.accuracy(nn.Identity(), [], CPU)


def test_the_model_is_evaluated_without_dropout_and_gradients():
    model, seen = nn.Sequential(nn.Dropout(), nn.Linear(3, 3)), []
    model.register_forward_hook(
        lambda module, *_: seen.append(
            (module[0].training, torch.is_inference_mode_enabled())
        )
    )
    batches = [(torch.ones(2, 3), torch.zeros(2).long())] * 2
    snippet.accuracy(model.train(), batches, CPU)
    assert seen == [(False, True)] * 2
    assert not torch.is_inference_mode_enabled()


def test_copies_may_run_on_their_own(monkeypatch, samples):
    to, calls = torch.Tensor.to, []

    def spy(self, *args, **kwargs):
        calls.append((args, kwargs))
        return to(self, *args, **kwargs)

    monkeypatch.setattr(torch.Tensor, "to", spy)
    snippet.accuracy(nn.Identity(), [samples, samples], CPU)
    assert calls == [((CPU,), {"non_blocking": True})] * 4


def test_no_value_is_read_before_the_last_batch(samples):
    """On meta, where tensors have no values, only the final reading fails."""
    drawn = []

    def batches():
        for _ in range(3):
            drawn.append(samples)
            yield samples

    with pytest.raises(NotImplementedError, match="meta tensor"):
        snippet.accuracy(nn.Identity(), batches(), torch.device("meta"))
    assert len(drawn) == 3


def test_the_mean_over_batches_the_page_works_out():
    logits = torch.eye(2)[[0] * 101]
    target = torch.tensor([0] * 90 + [1] * 10 + [0])
    batches = list(zip(logits.split(100), target.split(100), strict=True))
    whole = snippet.accuracy(nn.Identity(), batches, CPU)[0]
    means = [snippet.accuracy(nn.Identity(), [b], CPU)[0] for b in batches]
    assert means == [0.9, 1.0]
    assert f"{np.mean(means):.3f} {whole:.3f}" == "0.950 0.901"


def test_a_column_of_targets_compares_all_with_all():
    pred, target = torch.tensor([0, 1, 1, 1]), torch.tensor([[0], [1], [1], [1]])
    assert (pred == target).shape == (4, 4)
    assert (pred == target).sum() / len(target) == 2.5  # "250 %"
    assert (pred == target.squeeze(1)).sum() / len(target) == 1


def test_the_documented_errors(samples):
    logits, target = samples
    with raises_as_documented(PAGE):
        snippet.count_correct(logits, target, k=8)
    with raises_as_documented(PAGE):
        # As read off Stack Overflow: view after a slice of the transpose.
        guesses = logits.topk(5).indices.T
        guesses.eq(target)[:5].view(-1).sum()


def test_binary_and_segmentation_variants():
    logit, target = torch.tensor([0.3, -2.0, 4.0]), torch.tensor([1.0, 0.0, 0.0])
    assert ((logit > 0) == target.bool()).sum() == 2
    assert torch.equal(logit > 0, logit.sigmoid() > 0.5)
    logits, mask = torch.randn(2, 5, 3, 4), torch.randint(5, (2, 3, 4))
    mask[0, 0] = 255
    valid = mask != 255
    hits = (logits.argmax(1) == mask)[valid].sum()
    flat = logits.movedim(1, -1).reshape(-1, 5)[valid.flatten()]
    assert snippet.count_correct(flat, mask[valid])[0] == hits
