"""vectorize-loops: each loop by hand or in NumPy, and what goes wrong."""

import math

import numpy as np
import pytest
import torch

from tests.helpers import load_snippet, raises_as_documented, recipes

PAGE = "performance/vectorize-loops"
snippet = load_snippet("performance/vectorize_loops.py")


def test_an_if_for_each_number():
    expected = [s if s > 0 else 0.1 * s for s in snippet.v.tolist()]
    assert snippet.leaky.tolist() == pytest.approx(expected)
    assert min(expected) < 0 < max(expected)
    assert len(expected) == 500


def test_each_pair():
    a, b = snippet.a.tolist(), snippet.b.tolist()
    expected = [[math.dist(p, q) for q in b] for p in a]
    assert snippet.distances.shape == (30, 20)
    np.testing.assert_allclose(snippet.distances, expected, rtol=1e-5)
    torch.testing.assert_close(torch.cdist(snippet.a, snippet.b), snippet.distances)


def test_a_sum_for_each_class():
    expected = np.zeros((10, 8))
    np.add.at(expected, snippet.y.numpy(), snippet.x.double().numpy())
    np.testing.assert_allclose(snippet.sums, expected, atol=1e-4)
    assert snippet.y.unique().tolist() == list(range(10))


@pytest.mark.parametrize(
    ("dtype", "device"), [(torch.float64, "cpu"), (torch.bfloat16, "meta")]
)
def test_the_answer_keeps_dtype_and_device_and_a_class_may_lack(dtype, device):
    answer = recipes()["vectorize-loops"].answer
    assert set(answer.yours) == {"v", "a", "b", "x", "y", "num_classes"}
    x = torch.ones(3, 2, dtype=dtype, device=device)
    y = torch.tensor([0, 2, 2], device=device)
    names = {"v": x[:, 0], "a": x, "b": x[:2], "x": x, "y": y, "num_classes": 4}
    exec(answer.text, names)
    shapes = {"leaky": (3,), "distances": (3, 2), "sums": (4, 2)}
    for name, shape in shapes.items():
        found = names[name]
        assert (found.shape, found.dtype) == (shape, dtype)
        assert found.device.type == device
    if device == "cpu":
        assert names["sums"][:, 0].tolist() == [1, 0, 2, 0]


def test_repeated_indices_count_once():
    sums = torch.zeros(3)
    index = torch.tensor([0, 0, 1])
    sums[index] += 1
    assert sums.tolist() == [1, 1, 0]
    assert torch.zeros(3).index_add_(0, index, torch.ones(3)).tolist() == [2, 1, 0]
    assert torch.bincount(index, minlength=3).tolist() == [2, 1, 0]


def test_a_sum_in_bfloat16_stops():
    ones, index = torch.ones(1000, dtype=torch.bfloat16), torch.zeros(1000).long()
    assert ones.new_zeros(1).index_add_(0, index, ones).item() == 256
    assert torch.zeros(1).index_add_(0, index, ones.float()).item() == 1000


def test_an_if_on_a_whole_tensor():
    with raises_as_documented(PAGE, "RuntimeError: Boolean value of Tensor"):
        assert snippet.v > 0


def test_the_gradient_of_where():
    x = torch.tensor([0.0, 4.0], requires_grad=True)
    torch.where(x > 0, x.sqrt(), 0.0).sum().backward()
    assert x.grad.isnan().tolist() == [True, False]
    x.grad = None
    safe = torch.where(x > 0, x, 1.0)
    torch.where(x > 0, safe.sqrt(), 0.0).sum().backward()
    assert x.grad.tolist() == [0, 0.25]


def test_other_messages():
    index, ones = torch.tensor([0, 0, 1]), torch.ones(3)
    with raises_as_documented(PAGE, "RuntimeError: index_add_(): self"):
        torch.zeros(3).index_add_(0, index, ones.long())
    with raises_as_documented(PAGE, "RuntimeError: index_add_(): Expected dtype"):
        torch.zeros(3).index_add_(0, index.float(), ones)
    with raises_as_documented(PAGE, "RuntimeError: vmap: It looks like you're attempt"):
        torch.vmap(lambda s: s if s > 0 else -s)(ones)
    with raises_as_documented(PAGE, "RuntimeError: vmap: It looks like you're calling"):
        torch.vmap(lambda s: s.item())(ones)


def test_variants():
    v, x, y = snippet.v, snippet.x, snippet.y
    expected = np.convolve(v.numpy(), np.full(5, 0.2), mode="valid")
    np.testing.assert_allclose(v.unfold(0, 5, 1).mean(1), expected, atol=1e-5)
    counts = torch.bincount(y, minlength=10)
    means = snippet.sums / counts[:, None]
    by_hand = [x[y == c].mean(0) for c in range(10)]
    torch.testing.assert_close(means, torch.stack(by_hand))
    largest = torch.full((10,), -torch.inf).scatter_reduce_(0, y, v, "amax")
    assert largest.tolist() == [v[y == c].max().item() for c in range(10)]
    found = torch.vmap(lambda row: row @ row)(x)
    torch.testing.assert_close(found, x.square().sum(1))
    total, running = 0.0, []
    for s in v.tolist():
        total += s
        running.append(total)
    np.testing.assert_allclose(v.cumsum(0), running, atol=1e-4)
    layer = torch.nn.Linear(8, 3)
    torch.testing.assert_close(layer(x), torch.stack([layer(row) for row in x]))
