"""mixup: pairs and weights read back from basis vectors; SciPy; torchvision."""

import pytest
import torch
from scipy import stats
from sklearn.metrics import accuracy_score
from torch.nn import functional as F
from torchvision.transforms import v2

from tests.helpers import load_snippet, raises_as_documented

snippet = load_snippet("training/mixup.py")
mixup, mixed_accuracy = snippet.mixup, snippet.mixed_accuracy
PAGE = "training/mixup"


def read_back(mixed: torch.Tensor) -> tuple[float, list[int]]:
    """Return lam and each sample's partner, from a batch that was ``eye(N)``."""
    lams, partners = set(), []
    for i, row in enumerate(mixed.tolist()):
        others = [j for j, value in enumerate(row) if value and j != i]
        assert len(others) <= 1
        partners += others or [i]
        if others:
            lams.add(row[i])
            assert row[i] + row[others[0]] == pytest.approx(1)
    (lam,) = lams  # one weight for the whole batch
    return lam, partners


def test_samples_and_labels_mix_alike():
    torch.manual_seed(1)
    target = torch.tensor([3, 0, 2, 2, 1, 0])
    mixed, soft = mixup(torch.eye(6, dtype=torch.float64), target, 4, alpha=1.0)
    lam, partners = read_back(mixed)
    assert 0 < lam < 1
    assert sorted(partners) == list(range(6))
    assert partners != list(range(6))
    for i, j in enumerate(partners):
        expected = torch.zeros(4)
        expected[target[i]] += lam
        expected[target[j]] += 1 - lam
        torch.testing.assert_close(soft[i], expected)


def test_the_weight_follows_the_beta_distribution():
    torch.manual_seed(0)
    lams = []
    for _ in range(1000):
        x, _ = mixup(torch.tensor([0.0, 1.0]), torch.tensor([0, 1]), 2, alpha=0.2)
        if not torch.equal(x, torch.tensor([0.0, 1.0])):  # mixed with itself
            lams.append(x[1].item())
    assert len(lams) > 400
    assert stats.kstest(lams, stats.beta(0.2, 0.2).cdf).pvalue > 0.01
    assert stats.kstest(lams, stats.beta(0.4, 0.4).cdf).pvalue < 1e-6


def test_how_strong_the_page_says():
    outside = 2 * stats.beta(0.2, 0.2).cdf(0.1)
    assert outside == pytest.approx(2 / 3, abs=0.01)
    assert stats.beta(1, 1).cdf(0.3) == pytest.approx(0.3)


def test_equals_torchvision_given_its_pairs(monkeypatch):
    monkeypatch.setattr(torch, "randperm", lambda n, device: torch.arange(n).roll(1))
    x, target = torch.randn(5, 3, 4, 4), torch.tensor([0, 1, 2, 3, 3])
    for seed in range(3):
        torch.manual_seed(seed)
        expected = v2.MixUp(alpha=0.4, num_classes=4)(x, target)
        torch.manual_seed(seed)
        torch.testing.assert_close(mixup(x, target, 4, alpha=0.4), expected)


def test_soft_targets_give_the_weighted_sum_of_two_losses():
    torch.manual_seed(2)
    target, logits = torch.tensor([0, 1, 2, 1]), torch.randn(4, 3)
    mixed, soft = mixup(torch.eye(4), target, 3, alpha=1.0)
    lam, partners = read_back(mixed)
    first = F.cross_entropy(logits, target)
    second = F.cross_entropy(logits, target[partners])
    expected = lam * first + (1 - lam) * second
    torch.testing.assert_close(F.cross_entropy(logits, soft), expected)


def test_accuracy_by_hand_and_on_hard_labels():
    soft = torch.tensor([[0.6, 0.4, 0.0], [0.0, 0.3, 0.7], [1.0, 0.0, 0.0]])
    logits = torch.tensor([[0.1, 2.0, 0.0], [0.0, 0.1, 0.2], [0.0, 3.0, 0.0]])
    assert mixed_accuracy(logits, soft).item() == pytest.approx((0.4 + 0.7) / 3)
    target = torch.tensor([1, 0, 1])
    hard = F.one_hot(target, 3)
    expected = accuracy_score(target, logits.argmax(1))
    assert mixed_accuracy(logits, hard.float()).item() == pytest.approx(expected)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float64])
def test_dtype_shape_and_inputs_are_kept(dtype):
    x, target = torch.randn(4, 6, dtype=dtype).T, torch.arange(6) % 2
    before = x.clone()
    mixed, soft = mixup(x, target, 2, alpha=0.5)
    assert mixed.dtype == dtype
    assert mixed.shape == x.shape
    assert soft.dtype == torch.float32
    assert torch.equal(x, before)


def test_a_batch_of_one_is_left_as_it_is():
    x, soft = mixup(torch.ones(1, 2), torch.tensor([1]), 2, alpha=1.0)
    torch.testing.assert_close(x, torch.ones(1, 2))
    torch.testing.assert_close(soft, torch.tensor([[0.0, 1.0]]))


def test_the_permutation_is_made_where_the_batch_is(monkeypatch):
    devices, randperm = [], torch.randperm
    monkeypatch.setattr(
        torch, "randperm", lambda n, device: devices.append(device) or randperm(n)
    )
    mixup(torch.ones(3, 2, device="meta"), torch.tensor([0, 1, 1]), 2, alpha=1.0)
    assert devices == [torch.device("meta")]


def test_bad_input_is_refused():
    x = torch.ones(2, 3)
    with pytest.raises(ValueError, match="concentration"):
        mixup(x, torch.tensor([0, 1]), 2, alpha=0.0)
    with pytest.raises(RuntimeError, match="smaller than num_classes"):
        mixup(x, torch.tensor([0, 2]), 2, alpha=1.0)


def test_the_documented_errors():
    logits, soft = torch.randn(2, 3), torch.full((2, 3), 1 / 3)
    images, target = torch.zeros(2, 3, 4, 4, dtype=torch.uint8), torch.tensor([0, 1])
    with raises_as_documented(PAGE):
        F.nll_loss(logits.log_softmax(1), soft)
    with raises_as_documented(PAGE):
        F.cross_entropy(logits, soft, ignore_index=255)
    with raises_as_documented(PAGE):
        v2.MixUp()(images.float(), target)
    with raises_as_documented(PAGE):
        v2.MixUp(num_classes=2)(images, target)


def test_the_variants_run():
    images, target = torch.zeros(2, 3, 4, 4, dtype=torch.uint8), torch.tensor([0, 1])
    images = v2.ToDtype(torch.float32, scale=True)(images)
    mix = v2.RandomChoice([v2.MixUp(num_classes=2), v2.CutMix(num_classes=2)])
    _, soft = mix(images, target)
    F.cross_entropy(torch.randn(2, 2), soft, label_smoothing=0.1)
