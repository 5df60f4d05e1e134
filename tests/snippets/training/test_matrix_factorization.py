"""matrix-factorization: scores, the loss and recall against loops in NumPy."""

import runpy

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F

from tests.helpers import load_snippet, raises_as_documented

PAGE = "training/matrix-factorization"
snippet = load_snippet("training/matrix_factorization.py")


@pytest.fixture
def model():
    torch.manual_seed(0)
    return snippet.MatrixFactorization(5, 7, dim=3)


@pytest.fixture
def tables(model):
    return [
        t.weight.detach().double().numpy() for t in (model.user, model.item, model.bias)
    ]


def test_scores_are_dot_products_and_the_bias_of_the_item(model, tables):
    user, item, bias = tables
    assert (user.shape, item.shape, bias.shape) == ((5, 3), (7, 3), (7, 1))
    expected = np.array(
        [[user[u] @ item[i] + bias[i, 0] for i in range(7)] for u in range(5)]
    )
    scores = model(torch.arange(5)[:, None], torch.arange(7)).detach()
    np.testing.assert_allclose(scores, expected, atol=1e-6)
    users, items = torch.tensor([4, 0, 2]), torch.tensor([6, 6, 1])
    pairs = model(users, items).detach()
    np.testing.assert_allclose(pairs, expected[users, items], atol=1e-6)


def test_the_tables_start_small():
    torch.manual_seed(0)
    model = snippet.MatrixFactorization(500, 500, dim=16)
    for weight in model.parameters():
        assert weight.std().item() == pytest.approx(0.1, rel=0.15)


def test_the_loss_in_numpy(model, tables):
    user, item, bias = tables
    torch.manual_seed(1)
    seen = torch.rand(5, 7) < 0.4
    users, items = torch.randint(5, (64,)), torch.randint(7, (64,))
    torch.manual_seed(2)
    others = torch.randint(7, (64,))  # the same numbers as in the loss
    torch.manual_seed(2)
    loss = snippet.bpr_loss(model, users, items, seen)
    total = 0.0
    for u, i, j in zip(users.tolist(), items.tolist(), others.tolist(), strict=True):
        if not seen[u, j]:
            x = user[u] @ (item[i] - item[j]) + bias[i, 0] - bias[j, 0]
            total += np.log1p(np.exp(-x))
    assert loss.item() == pytest.approx(total / 64, rel=1e-5)
    loss.backward()
    assert all(w.grad.abs().sum() > 0 for w in model.parameters())


def test_samples_reach_all_items_and_seen_ones_do_not_count(model):
    users, items = (
        torch.zeros(300, dtype=torch.long),
        torch.zeros(300, dtype=torch.long),
    )
    snippet.bpr_loss(
        model, users, items, torch.zeros(5, 7, dtype=torch.bool)
    ).backward()
    assert (model.item.weight.grad.abs().sum(1) > 0).all()
    all_seen = torch.ones(5, 7, dtype=torch.bool)
    assert snippet.bpr_loss(model, users, items, all_seen) == 0  # not NaN


def test_recall_in_a_loop():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(6, 20))
    seen = rng.random((6, 20)) < 0.3
    held_out = (rng.random((6, 20)) < 0.3) & ~seen
    held_out[2] = False  # nothing held out: this user does not count
    expected = []
    for u in (0, 1, 3, 4, 5):
        order = [i for i in np.argsort(-scores[u]) if not seen[u, i]][:4]
        expected.append(held_out[u, order].sum() / held_out[u].sum())
    got = snippet.recall_at_k(*map(torch.tensor, (scores, seen, held_out)), 4)
    assert got == pytest.approx(np.mean(expected))


def test_seen_items_would_fill_the_list():
    seen = torch.tensor([[True, True, False, False]])
    held_out = torch.tensor([[False, False, True, False]])
    scores = torch.tensor([[9.0, 8.0, 7.0, 6.0]])
    nothing = torch.zeros_like(seen)
    assert snippet.recall_at_k(scores, seen, held_out, 2) == 1
    assert snippet.recall_at_k(scores, nothing, held_out, 2) == 0


def test_what_is_recommended(model, tables):
    """As the page has it: for each user the best of the items not seen."""
    user, item, bias = tables
    seen = torch.arange(35).view(5, 7) % 3 == 0
    u, items = torch.tensor([4, 1]), 7
    scores = model(u[:, None], torch.arange(items)).masked_fill(seen[u], -torch.inf)
    for row, best in zip(u.tolist(), scores.topk(3).indices.tolist(), strict=True):
        new = [i for i in range(items) if not seen[row, i]]
        new.sort(key=lambda i: -(user[row] @ item[i] + bias[i, 0]))
        assert best == new[:3]


def test_new_ids(model):
    with raises_as_documented(PAGE, "IndexError: index out of range"):
        model(torch.tensor([5]), torch.tensor([0]))
    with raises_as_documented(PAGE, "IndexError: index out of range"):
        model(torch.tensor([0]), torch.tensor([7]))


def test_a_bias_per_user_cancels():
    user = torch.randn(5, dtype=torch.double, requires_grad=True)
    item = torch.randn(5, dtype=torch.double)
    (-F.logsigmoid((user + item) - (user - item))).mean().backward()
    assert user.grad.abs().max() == 0


def test_the_default_start_spreads_the_scores():
    torch.manual_seed(0)
    user, item = nn.Embedding(3000, 64), nn.Embedding(3000, 64)
    dot = (user.weight * item.weight).sum(1)
    assert dot.std().item() == pytest.approx(8, rel=0.05)


def test_variant_a_bag_of_ids_per_user():
    bag = nn.EmbeddingBag(10, 3, mode="mean")
    ids = torch.tensor([[1, 2], [3, 3]])
    torch.testing.assert_close(bag(ids), bag.weight[ids].mean(1))


def test_the_demonstration_beats_the_most_popular_items(capsys):
    page = runpy.run_path(snippet.__file__, run_name="__main__")
    lines = capsys.readouterr().out.splitlines()
    baseline, recall = (float(line.split()[-1]) for line in lines)
    assert [line.split(":")[0] for line in lines] == [
        "most popular items",
        "factorization",
    ]
    count = page["seen"].sum(0).float().expand(80, -1)
    expected = snippet.recall_at_k(count, page["seen"], page["held_out"], 10)
    assert baseline == pytest.approx(expected, abs=0.01)
    assert recall > 0.5 > 2 * baseline
