"""mixup: the loss by hand in float64; λ against SciPy; torchvision's MixUp."""

import copy

import pytest
import torch
from scipy import stats
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset, default_collate
from torchvision.transforms import v2

from tests.helpers import ROOT, load_snippet, raises_as_documented

SNIPPET = "training/mixup.py"
PAGE = "training/mixup"
snippet = load_snippet(SNIPPET)


SOURCE = (ROOT / "snippets" / SNIPPET).read_text("utf-8")
STEP = SOURCE.partition("nn.CrossEntropyLoss()\n")[2].partition("# The same")[0]
DRAW = compile(STEP.partition("logits")[0], SNIPPET, "exec")


def draw(seed: int, x: torch.Tensor) -> dict:
    """What the snippet draws for a batch: lam and order."""
    torch.manual_seed(seed)
    names = {"torch": torch, "Beta": snippet.Beta, "x": x}
    exec(DRAW, names)
    return names


def mixed(seed: int) -> dict:
    """The variables of the snippet's step, on a batch of basis vectors."""
    torch.manual_seed(seed)
    names = {"torch": torch, "Beta": snippet.Beta, "loss_fn": nn.CrossEntropyLoss()}
    names |= {"x": torch.eye(6), "y": torch.tensor([3, 0, 2, 2, 1, 0]), "inputs": []}
    linear = nn.Linear(6, 4)
    names["model"] = lambda batch: names["inputs"].append(batch) or linear(batch)
    exec(STEP, names)
    assert linear.weight.grad is not None
    return names


def test_the_loss_of_the_snippet_by_hand():
    s, i = snippet, torch.arange(8)
    assert s.order.sort().values.tolist() == list(range(8))
    assert s.order.tolist() != list(range(8))
    assert 0 < s.lam < 1
    x = s.lam * s.x.double() + (1 - s.lam) * s.x.double()[s.order]
    log_p = copy.deepcopy(s.model).double()(x).log_softmax(1)
    first, second = -log_p[i, s.y].mean(), -log_p[i, s.y[s.order]].mean()
    expected = s.lam * first + (1 - s.lam) * second
    assert s.loss.item() == pytest.approx(expected.item(), rel=1e-5)
    assert s.loss.item() != pytest.approx(first.item(), rel=1e-3)
    assert s.model[1].weight.grad.abs().sum() > 0


def test_soft_targets_of_the_snippet_by_hand():
    s = snippet
    for row, a, b in zip(s.soft, s.y.tolist(), s.y[s.order].tolist(), strict=True):
        expected = torch.zeros(10)
        expected[a] += s.lam
        expected[b] += 1 - s.lam
        torch.testing.assert_close(row, expected)


def test_samples_and_losses_mix_alike():
    for seed in range(20):
        names = mixed(seed)
        lam, order, y = names["lam"], names["order"], names["y"]
        (batch,) = names["inputs"]
        torch.testing.assert_close(
            batch, lam * torch.eye(6) + (1 - lam) * torch.eye(6)[order]
        )
        soft = lam * F.one_hot(y, 4) + (1 - lam) * F.one_hot(y[order], 4)
        expected = F.cross_entropy(names["logits"], soft)
        torch.testing.assert_close(names["loss"], expected)


def test_lam_follows_the_beta_distribution():
    lams = [draw(seed, torch.eye(2))["lam"] for seed in range(400)]
    assert stats.kstest(lams, stats.beta(0.2, 0.2).cdf).pvalue > 0.01
    assert stats.kstest(lams, stats.beta(0.4, 0.4).cdf).pvalue < 1e-3
    assert stats.kstest(lams, stats.beta(0.2, 0.4).cdf).pvalue < 1e-3


def test_every_order_is_drawn():
    orders = torch.stack([draw(seed, torch.eye(6))["order"] for seed in range(100)])
    for column in orders.T:
        assert torch.bincount(column, minlength=6).min() > 5


def test_how_strong_the_page_says():
    outside = 2 * stats.beta(0.2, 0.2).cdf(0.1)
    assert outside == pytest.approx(2 / 3, abs=0.01)
    assert stats.beta(1, 1).cdf(0.3) == pytest.approx(0.3)


def test_equals_torchvision_given_its_pairs():
    x, y = torch.randn(5, 3, 4, 4), torch.tensor([0, 1, 2, 3, 3])
    torch.manual_seed(1)
    inputs, soft = v2.MixUp(alpha=0.4, num_classes=4)(x, y)
    torch.manual_seed(1)
    lam = snippet.Beta(0.4, 0.4).sample().item()
    order = torch.arange(5).roll(1)  # neighbours
    torch.testing.assert_close(inputs, lam * x + (1 - lam) * x[order])
    torch.testing.assert_close(
        soft, lam * F.one_hot(y, 4) + (1 - lam) * F.one_hot(y[order], 4)
    )


def test_a_perfect_model_stays_below_one():
    """The credit that the page gives, against the soft targets of the right class."""
    s = snippet
    pred = s.soft.argmax(1)  # of a model that always gets it right
    credit = s.lam * (pred == s.y).float().mean()
    credit += (1 - s.lam) * (pred == s.y[s.order]).float().mean()
    best = s.soft.gather(1, pred[:, None]).mean()
    assert credit.item() == pytest.approx(best.item())
    assert best < 1
    assert F.cross_entropy(s.soft.log().clamp(min=-1e4), s.soft) > 0
    assert (pred == s.y).float().mean() <= 1


def test_the_partners_are_drawn_where_the_batch_is():
    assert draw(0, torch.eye(6, device="meta"))["order"].is_meta


def test_one_lam_per_sample():
    x, y = torch.randn(4, 3, 2, 2), torch.tensor([0, 1, 2, 1])
    lam = snippet.Beta(0.2, 0.2).sample((4,))
    order = torch.randperm(4)
    inputs = torch.lerp(x[order], x, lam.view(4, 1, 1, 1))
    soft = torch.lerp(
        F.one_hot(y[order], 3).float(), F.one_hot(y, 3).float(), lam.view(4, 1)
    )
    for i, j in enumerate(order.tolist()):
        torch.testing.assert_close(inputs[i], lam[i] * x[i] + (1 - lam[i]) * x[j])
        assert soft[i].sum().item() == pytest.approx(1)


def test_torchvision_in_the_loader():
    mixup = v2.MixUp(alpha=0.2, num_classes=4)
    mix = v2.RandomChoice([mixup, v2.CutMix(num_classes=4)])
    data = TensorDataset(torch.randn(8, 3, 4, 4), torch.arange(8) % 4)

    def collate(batch):
        return mix(*default_collate(batch))

    for images, soft in DataLoader(data, 4, shuffle=True, collate_fn=collate):
        assert images.shape == (4, 3, 4, 4)
        torch.testing.assert_close(soft.sum(1), torch.ones(4))
        loss_fn = nn.CrossEntropyLoss(label_smoothing=0.1)
        assert loss_fn(torch.randn(4, 4), soft).isfinite()


def test_the_documented_errors():
    logits, soft = torch.randn(2, 3), torch.full((2, 3), 1 / 3)
    images, y = torch.zeros(2, 3, 4, 4, dtype=torch.uint8), torch.tensor([0, 1])
    with raises_as_documented(PAGE, "RuntimeError: 0D or 1D"):
        F.nll_loss(logits.log_softmax(1), soft)
    with raises_as_documented(PAGE, "RuntimeError: ignore_index is not"):
        F.cross_entropy(logits, soft, ignore_index=255)
    with raises_as_documented(PAGE, "ValueError: num_classes must be"):
        v2.MixUp()(images.float(), y)
    with raises_as_documented(PAGE, "RuntimeError: result type Float"):
        v2.MixUp(num_classes=2)(images, y)
    v2.MixUp(num_classes=2)(v2.ToDtype(torch.float32, scale=True)(images), y)
    with pytest.raises(ValueError, match="batched input with 4 dims"):
        v2.MixUp(num_classes=2)(torch.zeros(2, 5), y)
