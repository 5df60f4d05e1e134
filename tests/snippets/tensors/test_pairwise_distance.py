"""pairwise-distance: distances and cosines against SciPy in float64."""

import numpy as np
import pytest
import torch
from scipy.spatial import distance
from torch.nn import functional as F

from tests.chains.pasted import answer
from tests.helpers import load_snippet, raises_as_documented

PAGE = "tensors/pairwise-distance"
snippet = load_snippet("tensors/pairwise_distance.py")
EXACT = "donot_use_mm_for_euclid_dist"


def by_scipy(a, b, metric="euclidean"):
    return torch.from_numpy(distance.cdist(a.double(), b.double(), metric))


def difference(found, wanted):
    return (found.double() - wanted).abs().max().item()


def test_the_snippet_is_as_exact_as_it_says():
    a, b = snippet.a, snippet.b
    assert (a.shape, b.shape) == ((100, 3), (40, 3))
    assert a.min() > 90
    wanted = by_scipy(a, b)
    assert difference(snippet.exact, wanted) < 1e-5
    assert difference(snippet.true, wanted) < 1e-5
    assert 1e-2 < difference(snippet.plain, wanted) < 2
    assert difference(snippet.dist, wanted) < 1e-2
    assert not snippet.exact.diagonal().any()
    assert difference(snippet.cosine, 1 - by_scipy(a, b, "cosine")) < 1e-6


def test_the_nearest_of_coordinates_on_a_map():
    torch.manual_seed(0)
    a = torch.tensor([39.9, 116.4]) + 0.01 * torch.randn(1000, 2)  # one city
    names = {"a": a, "b": a, "k": 2}
    exec(answer("pairwise-distance"), names)
    wanted = by_scipy(a, a).topk(2, largest=False).indices[:, 1]
    assert torch.equal(names["nearest"][:, 1], wanted)
    plain = torch.cdist(a, a).fill_diagonal_(torch.inf).argmin(1)
    assert (plain != wanted).float().mean() > 0.9


def test_the_diagonal_with_and_without_the_mean():
    torch.manual_seed(0)
    a = torch.randn(100, 64) + 100
    names = {"a": a, "b": a, "k": 3}
    exec(answer("pairwise-distance"), names)
    assert names["dist"].diagonal().max() < 0.03
    assert torch.cdist(a, a).diagonal().max() > 0.1
    exact = torch.cdist(a, a, compute_mode=EXACT)
    assert not exact.diagonal().any()


def test_the_distances_of_a_batch_and_of_one_query():
    torch.manual_seed(0)
    a, b = torch.randn(2, 30, 3) + 100, torch.randn(2, 30, 3) + 50
    names = {"a": a, "b": b, "k": 1}
    exec(answer("pairwise-distance"), names)
    pairs = list(zip(a, b, strict=True))
    wanted = torch.stack([by_scipy(*pair) for pair in pairs])
    assert difference(names["dist"], wanted) < 1e-2
    cosines = torch.stack([1 - by_scipy(*pair, "cosine") for pair in pairs])
    assert difference(names["cosine"], cosines) < 1e-6
    names["a"], names["b"] = a[0, :1], b[0]
    exec(answer("pairwise-distance"), names)
    assert difference(names["dist"], wanted[0, :1]) < 1e-2


def test_the_answer_has_a_gradient_where_rows_are_equal_or_zero():
    a = torch.tensor([[1.0, 2.0], [1.0, 2.0], [0.0, 0.0]], requires_grad=True)
    names = {"a": a, "b": a, "k": 3}
    exec(answer("pairwise-distance"), names)
    (names["dist"] + names["cosine"]).sum().backward()
    assert a.grad.isfinite().all()
    assert names["cosine"][2].tolist() == [0, 0, 0]
    assert sorted(names["nearest"][2].tolist()) == [0, 1, 2]


def test_the_nearest_rows():
    order = np.argsort(by_scipy(snippet.a, snippet.b).numpy(), axis=1, kind="stable")
    assert snippet.nearest.tolist() == order[:, :3].tolist()
    parts, b = (snippet.a - snippet.mean).split(16), snippet.b - snippet.mean
    found = [torch.cdist(part, b).topk(3, largest=False).indices for part in parts]
    assert torch.equal(torch.cat(found), snippet.nearest)


def test_up_to_25_rows_the_default_is_exact():
    few = snippet.a[:25]
    assert difference(torch.cdist(few, few), by_scipy(few, few)) < 1e-5
    more = snippet.a[:26]
    assert difference(torch.cdist(more, more), by_scipy(more, more)) > 1e-3


def test_the_expansion_has_negative_squares():
    a = snippet.a
    aa = a.square().sum(1)
    squares = aa[:, None] + aa - 2 * a @ a.T
    assert squares.min() < 0
    assert squares.sqrt().isnan().any()
    assert not squares.clamp_min(0).sqrt().isnan().any()


def test_only_the_root_written_by_hand_has_a_nan_gradient():
    a = torch.ones(3, 2, requires_grad=True)
    (a[:, None] - a).square().sum(-1).sqrt().sum().backward()
    assert a.grad.isnan().any()
    a.grad = None
    torch.cdist(a, a).sum().backward()
    assert not a.grad.any()


def test_pairwise_distance_goes_row_by_row():
    a, b = torch.randn(4, 3), torch.randn(4, 3)
    wanted = by_scipy(a, b).diagonal()
    assert difference(F.pairwise_distance(a, b, eps=0), wanted) < 1e-6
    equal = F.pairwise_distance(a, a)
    torch.testing.assert_close(equal, torch.full((4,), 1.7e-6), atol=5e-8, rtol=0)
    assert not F.pairwise_distance(a, a, eps=0).any()


def test_the_variants():
    a, b = torch.randn(2, 5, 3), torch.randn(2, 4, 3)
    assert torch.cdist(a, b).shape == (2, 5, 4)
    assert difference(
        torch.cdist(a[0], b[0], p=1), by_scipy(a[0], b[0], "cityblock")
    ) < (1e-5)
    own = torch.cdist(a[0], a[0]).fill_diagonal_(torch.inf).argmin(1)
    expected = by_scipy(a[0], a[0]).fill_diagonal_(torch.inf).argmin(1)
    assert torch.equal(own, expected)
    pairs = torch.from_numpy(distance.pdist(a[0].double()))
    assert difference(F.pdist(a[0]), pairs) < 1e-5
    cosine = 1 - by_scipy(a[0, :4], b[0], "cosine").diagonal()
    assert difference(F.cosine_similarity(a[0, :4], b[0], dim=1), cosine) < 1e-5


def test_the_nearest_of_the_same_matrix_in_a_loss():
    a = torch.tensor([[0.0], [1.0], [3.0]], requires_grad=True)
    own = torch.cdist(a, a).fill_diagonal_(torch.inf)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        own.amin(1).sum().backward()
    itself = torch.eye(len(a), device=a.device).bool()
    near = torch.cdist(a, a).masked_fill(itself, torch.inf).amin(1)
    assert near.tolist() == [1, 1, 2]
    near.sum().backward()  # (b - a) + (b - a) + (c - b)
    assert a.grad.ravel().tolist() == [-2, 1, 1]


def test_one_mean_does_not_help_two_cities():
    torch.manual_seed(0)
    cities = torch.tensor([[39.9, 116.4], [-33.9, 151.2]]).repeat_interleave(100, 0)
    a = cities + 0.01 * torch.randn(200, 2)
    nearest = distance.cdist(a.double(), a.double())
    np.fill_diagonal(nearest, np.inf)
    exact = {"compute_mode": "donot_use_mm_for_euclid_dist"}
    wrong = []
    for options in ({}, exact):
        found = torch.cdist(a - a.mean(0), a - a.mean(0), **options)
        found.fill_diagonal_(torch.inf)
        wrong.append((found.argmin(1).numpy() != nearest.argmin(1)).mean())
    assert wrong[0] > 0.5
    assert wrong[1] < 0.05


def test_what_is_refused():
    with raises_as_documented(PAGE, "RuntimeError: X1 and X2 must"):
        torch.cdist(torch.zeros(2, 3), torch.zeros(2, 5))
    with raises_as_documented(PAGE, "RuntimeError: cdist only supports at least"):
        torch.cdist(torch.zeros(3), torch.zeros(3))
    with raises_as_documented(PAGE, "RuntimeError: cdist only supports floating"):
        torch.cdist(*torch.zeros(2, 2, 3, dtype=torch.long))
    with raises_as_documented(PAGE, "NotImplementedError: mean(): could"):
        integers = torch.zeros(4, 3, dtype=torch.long)
        exec(answer("pairwise-distance"), {"a": integers, "b": integers, "k": 1})
    with raises_as_documented(PAGE, 'NotImplementedError: "cdist" not'):
        torch.cdist(*torch.zeros(2, 2, 3).half())
    with pytest.raises(NotImplementedError):
        torch.cdist(*torch.zeros(2, 2, 3).bfloat16())


def test_mahalanobis_by_whitening_both():
    a, b = snippet.a.double(), snippet.b.double()
    mean = b.mean(-2, keepdim=True)
    inverse = np.linalg.inv(np.cov(b.T))
    wanted = distance.cdist(a, b, "mahalanobis", VI=inverse)
    centre = distance.cdist(a, b.mean(0, keepdim=True), "mahalanobis", VI=inverse)
    L = torch.linalg.cholesky(torch.cov(b.mT))
    a, b = (
        torch.linalg.solve_triangular(L, (m - mean).mT, upper=False).mT for m in (a, b)
    )
    torch.testing.assert_close(torch.cdist(a, b).numpy(), wanted, atol=1e-6, rtol=0)
    torch.testing.assert_close(a.norm(dim=1).numpy(), centre[:, 0])
