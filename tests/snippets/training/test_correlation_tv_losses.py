"""correlation-tv-losses: against NumPy, SciPy, TorchMetrics, and by hand."""

import math

import numpy as np
import pytest
import torch
from scipy import stats
from torch.nn import functional as F
from torchmetrics import PearsonCorrCoef
from torchmetrics.functional.image import total_variation as summed_variation

from tests.helpers import load_snippet, raises_as_documented, recipes

PAGE = "training/correlation-tv-losses"
ANSWER = recipes()["correlation-tv-losses"].answer
snippet = load_snippet("training/correlation_tv_losses.py")
pearson, total_variation = snippet.pearson, snippet.total_variation


def centred(x):
    return x - x.mean(-1, keepdim=True)


def test_the_answer_against_numpy():
    target = torch.randn(5, 30)
    pred = target + torch.randn(5, 30)
    names = {"pred": pred, "target": target, "F": F, "torch": torch}
    exec(ANSWER.text, names)
    r = [np.corrcoef(a, b)[0, 1] for a, b in zip(pred, target, strict=True)]
    assert names["loss"].item() == pytest.approx(1 - np.mean(r), abs=1e-5)
    p, t = pred.numpy(), target.numpy()
    length = np.linalg.norm(p, axis=1) * np.linalg.norm(t, axis=1)
    by_hand = 1 - ((p * t).sum(1) / length).mean()
    assert names["cosine"].item() == pytest.approx(by_hand, abs=1e-5)


def test_the_ends_of_the_loss_and_what_r_does_not_see():
    t = torch.randn(3, 20)
    for pred, r in ((t, 1), (-t, -1), (3 * t + 7, 1)):
        torch.testing.assert_close(pearson(pred, t), torch.full((3,), float(r)))
    torch.testing.assert_close(
        F.cosine_similarity(3 * t, t), torch.ones(3), rtol=1e-5, atol=1e-5
    )
    assert (F.cosine_similarity(t + 7, t) < 0.9).all()
    torch.testing.assert_close(
        F.cosine_similarity(centred(t + 7), centred(t)), torch.ones(3)
    )
    assert F.mse_loss(3 * t + 7, t) > 1


def test_it_can_be_trained_on():
    torch.manual_seed(0)
    x, target = torch.randn(64, 5), torch.randn(5)
    y = x @ target
    w = torch.zeros(5, requires_grad=True)
    optimizer = torch.optim.Adam([w], 0.05)
    for _ in range(1000):
        optimizer.zero_grad()
        (1 - pearson(x @ w, y)).backward()  # starts from a constant: all 0
        optimizer.step()
    assert np.corrcoef((x @ w).detach(), y)[0, 1] > 0.99


@pytest.mark.parametrize("value", [0.0, 0.1, 3.0])
def test_a_constant_prediction(value):
    torch.manual_seed(0)
    y = torch.randn(8)
    pred = torch.full((8,), value, requires_grad=True)
    r = pearson(pred, y)
    assert r.item() == pytest.approx(0, abs=1e-4)
    (grad,) = torch.autograd.grad(r, pred)
    assert 0 < grad.abs().max() < 1000
    steep = F.cosine_similarity(centred(pred), centred(y), dim=0)
    assert steep.item() == pytest.approx(0, abs=1e-6)
    (grad,) = torch.autograd.grad(steep, pred)
    assert grad.abs().max() > 1e7
    found = torch.corrcoef(torch.stack([pred.detach(), y]))[0, 1]
    assert found.isnan() or found.abs() < 1e-6


def test_corrcoef_of_a_constant():
    y = torch.arange(8.0) ** 2
    assert torch.corrcoef(torch.stack([torch.full((8,), 3.0), y]))[0, 1].isnan()
    y = torch.randn(8, generator=torch.Generator().manual_seed(0))
    rounded = [torch.stack([torch.full((n,), 0.1), y[:n]]) for n in range(3, 9)]
    assert not all(torch.corrcoef(pair)[0, 1].isnan() for pair in rounded)


def test_very_small_values_are_held_near_zero():
    t = torch.randn(500, generator=torch.Generator().manual_seed(0))
    assert pearson(1e-3 * t, t) < 0.9
    small = 1e-3 * t
    assert pearson(small / small.std(), t).item() == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize(("shape", "dim"), [((6, 1), -1), ((1, 6), 0), ((1,), 0)])
def test_one_value_gives_no_gradient(shape, dim):
    pred = torch.randn(shape, requires_grad=True)
    loss = 1 - pearson(pred, torch.randn(shape), dim=dim).mean()
    loss.backward()
    assert loss.item() == 1
    assert pred.grad.eq(0).all()


def test_two_values_and_parts_of_a_whole():
    a, b = torch.tensor([[0.0, 3.0], [5.0, 1.0]]), torch.tensor([[2.0, 9.0]] * 2)
    np.testing.assert_allclose(pearson(a, b), [1, -1], atol=1e-5)
    whole = np.corrcoef(a.flatten(), b.flatten())[0, 1]
    assert abs(pearson(a, b).mean().item() - whole) > 0.1


def test_a_column_against_a_vector():
    target = torch.randn(20)
    pred = target[:, None] + 0.1 * torch.randn(20, 1)
    for dim in (0, -1):
        r = pearson(pred, target, dim=dim).numpy()
        np.testing.assert_allclose(r, np.zeros_like(r), atol=1e-4)
    assert pearson(pred.squeeze(1), target) > 0.9
    columns = torch.randn(2, 20, 3)
    r = [np.corrcoef(*columns[..., i])[0, 1] for i in range(3)]
    np.testing.assert_allclose(pearson(*columns, dim=0), r, atol=1e-5)


def test_a_metric_over_batches():
    a, b = torch.randn(2, 23)
    metric = PearsonCorrCoef()
    for p, t in zip(a.split(5), b.split(5), strict=True):
        metric.update(p, t)
    assert metric.compute().item() == pytest.approx(np.corrcoef(a, b)[0, 1], abs=1e-5)


def test_bfloat16():
    random = torch.Generator().manual_seed(0)
    x = torch.randn(1000, generator=random)
    y = x + 0.1 * torch.randn(1000, generator=random)
    assert np.corrcoef(x, y)[0, 1] == pytest.approx(0.996, abs=5e-4)
    a, b = (x + 1000).bfloat16(), (y + 1000).bfloat16()
    assert set(a.float().unique().diff().tolist()) <= {4.0, 8.0}
    assert pearson(a, b).item() == pytest.approx(0.947, abs=5e-4)
    for offset in (0, 10, 100):  # the means are subtracted in float32
        a, b = (x + offset).bfloat16(), (y + offset).bfloat16()
        exact = np.corrcoef(a.double(), b.double())[0, 1]
        assert pearson(a, b).item() == pytest.approx(exact, abs=1e-4)
        assert pearson(a, b).dtype == torch.float32


def test_total_variation_by_hand_and_as_others_sum_it():
    x = torch.rand(2, 3, 5, 7)
    a = x.numpy()
    across, down = np.abs(np.diff(a, axis=3)), np.abs(np.diff(a, axis=2))
    assert total_variation(x).item() == pytest.approx(across.mean() + down.mean())
    sums = x.diff(dim=-1).abs().sum((1, 2, 3)) + x.diff(dim=-2).abs().sum((1, 2, 3))
    torch.testing.assert_close(sums, summed_variation(x, reduction="none"))
    assert total_variation(snippet.image).item() == pytest.approx(1 / 7)
    assert total_variation(torch.full((1, 4, 4), 0.3)) == 0


def test_isotropic_variation_and_its_gradient():
    def isotropic(x, eps):
        dx, dy = x.diff(dim=-1)[..., :-1, :], x.diff(dim=-2)[..., :-1]
        return (dx**2 + dy**2 + eps).sqrt().mean()

    flat = torch.zeros(1, 4, 4, requires_grad=True)
    (grad,) = torch.autograd.grad(isotropic(flat, 0), flat)
    assert grad.isnan().any()
    (grad,) = torch.autograd.grad(isotropic(flat, 1e-8), flat)
    assert grad.isfinite().all()
    x = torch.rand(4, 5)
    a = x.tolist()
    steps = [
        math.hypot(a[i][j + 1] - a[i][j], a[i + 1][j] - a[i][j])
        for i in range(3)
        for j in range(4)
    ]
    assert isotropic(x, 1e-8).item() == pytest.approx(np.mean(steps), abs=1e-4)


def test_the_variants():
    a, b = torch.randn(2, 3, 4, 5)
    r = [np.corrcoef(p.flatten(), t.flatten())[0, 1] for p, t in zip(a, b, strict=True)]
    np.testing.assert_allclose(pearson(a.flatten(1), b.flatten(1)), r, atol=1e-5)
    a, b = a.flatten(), b.flatten()
    ranks = pearson(a.argsort().argsort(), b.argsort().argsort())
    assert ranks.item() == pytest.approx(stats.spearmanr(a, b).statistic, abs=1e-5)


def test_concordance_asks_for_scale_and_offset():
    def concordance(pred, target):
        p, t = pred - pred.mean(), target - target.mean()
        gap = (pred.mean() - target.mean()) ** 2
        return 2 * (p * t).mean() / (p.var(correction=0) + t.var(correction=0) + gap)

    t = torch.randn(50)
    assert concordance(t, t).item() == pytest.approx(1, abs=1e-5)
    pred = 2 * t + 1
    r, s = stats.pearsonr(pred, t).statistic, np.std
    p, q = pred.numpy().astype(float), t.numpy().astype(float)
    by_hand = 2 * r * s(p) * s(q) / (s(p) ** 2 + s(q) ** 2 + (p.mean() - q.mean()) ** 2)
    assert concordance(pred, t).item() == pytest.approx(by_hand, abs=1e-5)
    assert by_hand < 0.95
    assert concordance(torch.full((50,), 2.0), t).item() == pytest.approx(0, abs=1e-6)


def test_pairs_that_shall_be_apart():
    a, b, y = torch.randn(4, 6), torch.randn(4, 6), torch.tensor([1.0, -1, 1, -1])
    cosine = F.cosine_similarity(a, b)
    each = [1 - c if s > 0 else max(0, c - 0.2) for c, s in zip(cosine, y, strict=True)]
    found = F.cosine_embedding_loss(a, b, y, margin=0.2).item()
    assert found == pytest.approx(np.mean(each), abs=1e-6)
    assert F.cosine_embedding_loss(a, b, torch.zeros(4), margin=0.2) == 0


def test_the_messages():
    a, b = torch.randn(2, 4)
    with raises_as_documented(PAGE, "TypeError: corrcoef() takes"):
        torch.corrcoef(a, b)
    r = torch.corrcoef(torch.stack([a, b]))[0, 1].item()
    assert r == pytest.approx(np.corrcoef(a, b)[0, 1], abs=1e-5)
    with raises_as_documented(PAGE, "RuntimeError: corrcoef(): expected"):
        torch.corrcoef(torch.ones(2, 2, 3))
    with raises_as_documented(PAGE, "IndexError: Dimension out of range"):
        F.cosine_similarity(a, b)
    assert F.cosine_similarity(a, b, dim=0).ndim == 0
    x, y = torch.randn(2, 3, 4), torch.ones(3, 1)
    with raises_as_documented(PAGE, "RuntimeError: 0D or 1D target"):
        F.cosine_embedding_loss(*x, y)
    F.cosine_embedding_loss(*x, y.squeeze(1))
    image = torch.tensor([[[200, 10], [10, 200]]], dtype=torch.uint8)
    with raises_as_documented(PAGE, "NotImplementedError: mean(): could not"):
        total_variation(image)
    assert image.diff(dim=-1).flatten().tolist() == [66, 190]  # they wrap round
    assert total_variation(image.float() / 255).item() == pytest.approx(2 * 190 / 255)
