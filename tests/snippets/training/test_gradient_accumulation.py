"""gradient-accumulation: against one large batch, in float64 NumPy and in torch."""

import copy
import itertools
import math
import weakref

import numpy as np
import pytest
import torch
from torch import nn
from torch.autograd.graph import saved_tensors_hooks
from torch.nn import functional as F
from torch.utils.data import DataLoader, IterableDataset

from tests.helpers import ROOT, load_snippet

SNIPPET = "training/gradient_accumulation.py"
snippet = load_snippet(SNIPPET)


def gradients(model):
    return [parameter.grad.clone() for parameter in model.parameters()]


def large_batches(x, y, weight, size):
    """Linear regression by hand: the weights after each update."""
    weights = [weight]
    for a, b in zip(np.split(x, range(size, len(x), size)), y, strict=True):
        error = a @ weights[-1] - b
        weights.append(weights[-1] - 0.1 * 2 / len(a) * a.T @ error)
    return weights


def test_two_updates_as_with_two_large_batches():
    torch.manual_seed(0)
    x, y = torch.randn(48, 8).double().numpy(), torch.randn(48, 1).double().numpy()
    start = nn.Linear(8, 1, bias=False).weight.detach().double().numpy().T
    _, _, end = large_batches(x, (y[:32], y[32:]), start, 32)
    np.testing.assert_allclose(snippet.model.weight.detach().T, end, rtol=1e-4)
    assert not np.allclose(end, start, rtol=0.01)
    assert all(parameter.grad is None for parameter in snippet.model.parameters())


@pytest.mark.parametrize(("batches", "steps"), [(6, 4), (8, 4), (3, 4), (5, 1), (7, 3)])
def test_the_size_of_each_group_and_the_number_of_updates(batches, steps):
    """The answer, run with other numbers, counting what it does."""
    source = (ROOT / "snippets" / SNIPPET).read_text()
    loop = source[source.index("for i, (x, y)") : source.index("for x, y in zip")]
    events = []
    model = nn.Linear(1, 1, bias=False)

    class Noting(torch.optim.SGD):
        def step(self):
            events.append(model.weight.grad.item())

    scope = {
        "loader": [(torch.ones(2, 1), torch.zeros(2, 1))] * batches,
        "model": model,
        "loss_fn": lambda out, y: out.mean() - y.mean(),
        "optimizer": Noting(model.parameters(), lr=1.0),
        "steps": steps,
        "device": torch.device("cpu"),
    }
    exec(loop, scope)
    # A mean of equal gradients is that gradient: 1, in a short group as well.
    assert events == pytest.approx([1.0] * math.ceil(batches / steps))
    assert model.weight.grad is None


@pytest.fixture
def task():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(5, 7), nn.Tanh(), nn.Linear(7, 3)).double()
    return model, torch.randn(12, 5).double(), torch.randint(3, (12,))


def test_undivided_gradients_are_steps_times_as_large(task):
    model, x, y = task
    F.cross_entropy(model(x), y).backward()
    whole = gradients(model)
    model.zero_grad()
    for a, b in zip(x.split(3), y.split(3), strict=True):
        F.cross_entropy(model(a), b).backward()
    torch.testing.assert_close(gradients(model), [4 * grad for grad in whole])


def test_a_stream_has_no_length():
    class Stream(IterableDataset):
        def __iter__(self):
            yield from range(5)

    with pytest.raises(TypeError, match=r"object of type '.*' has no len\(\)"):
        len(DataLoader(Stream(), 2))


def test_unequal_batches_need_their_share(task):
    model, x, y = task
    F.cross_entropy(model(x), y).backward()
    whole = gradients(model)
    sizes = [5, 5, 2]
    loader = list(zip(x.split(sizes), y.split(sizes), strict=True))
    it = iter(loader)
    batches = list(itertools.islice(it, 3))
    n = sum(len(y) for _, y in batches)

    def accumulate(share):
        model.zero_grad()
        for a, b in batches:
            (F.cross_entropy(model(a), b) * share(b)).backward()
        return gradients(model)

    torch.testing.assert_close(accumulate(lambda b: len(b) / n), whole)
    assert not torch.allclose(accumulate(lambda b: 1 / 3)[0], whole[0], rtol=1e-3)


def test_batch_norm_takes_the_statistics_of_the_small_batches(task):
    _, x, _ = task
    for norm, same in ((nn.BatchNorm1d(5), False), (nn.LayerNorm(5), True)):
        norm.double()
        parts = torch.cat([norm(part) for part in x.split(3)])
        assert torch.allclose(parts, norm(x)) == same


def test_one_backward_at_the_end_keeps_every_graph(task):
    """Counted by what autograd saves and has not freed."""
    model, x, y = task

    class Box:
        def __init__(self, tensor):
            self.tensor = tensor
            boxes.add(self)

    def kept(backward_each):
        boxes.clear()
        most, total = 0, 0
        with saved_tensors_hooks(Box, lambda box: box.tensor):
            for a, b in zip(x.split(3), y.split(3), strict=True):
                loss = F.cross_entropy(model(a), b) / 4
                total = total + (loss.detach() if backward_each else loss)
                most = max(most, len(boxes))
                if backward_each:
                    loss.backward()
        return most

    boxes = weakref.WeakSet()
    assert kept(backward_each=False) == 4 * kept(backward_each=True)


def test_adam_hides_a_missing_division(task):
    model, x, y = task
    moved = []
    for factor in (1, 4):
        copied = copy.deepcopy(model)
        optimizer = torch.optim.Adam(copied.parameters(), lr=0.01)
        (factor * F.cross_entropy(copied(x), y)).backward()
        optimizer.step()
        moved.append([p.detach() for p in copied.parameters()])
    torch.testing.assert_close(*moved, rtol=1e-4, atol=1e-5)
