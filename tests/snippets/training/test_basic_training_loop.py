"""basic-training-loop: the updates against NumPy; what a pass counts and waits for."""

import inspect
import math

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.data import DataLoader, IterableDataset, TensorDataset

from tests.helpers import load_snippet, raises_as_documented, recipes

snippet = load_snippet("training/basic_training_loop.py")
ANSWER = recipes()["basic-training-loop"].answer
CPU = torch.device("cpu")
PAGE = "training/basic-training-loop"


@pytest.fixture
def data():
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(10, 4, generator=generator)
    return x, torch.randint(3, (10,), generator=generator)


@pytest.fixture
def loader(data):
    return DataLoader(TensorDataset(*data), batch_size=4)  # 4, 4 and 2


def numpy_epoch(weight, x, y, lr):
    """Softmax regression in float64: W (C, D) in place; the mean loss."""
    loss = 0
    for start in range(0, len(x), 4):
        a, b = x[start : start + 4], y[start : start + 4]
        logits = a @ weight.T
        p = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
        rows = np.arange(len(b))
        loss -= np.log(p[rows, b]).sum()
        p[rows, b] -= 1
        weight -= lr * p.T @ a / len(b)
    return loss / len(x)


def train(model, loader, lr=0.0, loss_fn=F.cross_entropy, device=CPU):
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    return snippet.train(model, loader, loss_fn, optimizer, device)


def test_two_epochs_equal_numpy(data, loader):
    torch.manual_seed(1)
    model = nn.Linear(4, 3, bias=False)
    weight = model.weight.detach().numpy().astype(np.float64)
    x, y = data[0].double().numpy(), data[1].numpy()
    for _ in range(2):
        expected = numpy_epoch(weight, x, y, lr=0.5)
        assert train(model, loader, lr=0.5) == pytest.approx(expected, rel=1e-5)
        np.testing.assert_allclose(model.weight.detach(), weight, rtol=1e-5)


def test_the_mean_over_batches_would_be_another_number(data, loader):
    torch.manual_seed(1)
    model = nn.Linear(4, 3)
    losses = [F.cross_entropy(model(x), y).item() for x, y in loader]
    whole = F.cross_entropy(model(data[0]), data[1]).item()
    assert train(model, loader) == pytest.approx(whole, rel=1e-5)
    assert sum(losses) / 3 != pytest.approx(whole, rel=1e-2)


class Stream(IterableDataset):
    """Samples without a length."""

    def __init__(self, data):
        self.data = data

    def __iter__(self):
        return zip(*self.data, strict=True)


@pytest.mark.parametrize("kind", ["dropped", "stream"])
def test_only_samples_that_came_are_counted(data, kind):
    torch.manual_seed(1)
    model = nn.Linear(4, 3)
    if kind == "dropped":
        loader, seen = DataLoader(TensorDataset(*data), 4, drop_last=True), 8
    else:
        loader, seen = DataLoader(Stream(data), 4), 10
    whole = F.cross_entropy(model(data[0][:seen]), data[1][:seen]).item()
    assert train(model, loader) == pytest.approx(whole, rel=1e-5)


def test_masks_of_a_segmentation():
    torch.manual_seed(1)
    x, y = torch.randn(5, 4, 6, 6), torch.randint(3, (5, 6, 6))
    model = nn.Conv2d(4, 3, 1)
    whole = F.cross_entropy(model(x), y).item()
    loader = DataLoader(TensorDataset(x, y), 2)  # 2, 2 and 1
    assert train(model, loader) == pytest.approx(whole, rel=1e-5)


def test_ignored_pixels_are_left_out_of_the_count():
    torch.manual_seed(1)
    x, y = torch.randn(5, 4, 6, 6), torch.randint(3, (5, 6, 6))
    y[0, 1:] = y[3, :2] = 255
    model, loss_fn = nn.Conv2d(4, 3, 1), nn.CrossEntropyLoss(ignore_index=255)
    source = inspect.getsource(snippet.train)
    assert source.count("y.numel()") == 2
    names = {"torch": torch}
    exec(source.replace("y.numel()", "(y != 255).sum()"), names)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.0)
    loader = DataLoader(TensorDataset(x, y), 2)
    whole = loss_fn(model(x), y).item()
    found = names["train"](model, loader, loss_fn, optimizer, CPU)
    assert float(found) == pytest.approx(whole, rel=1e-5)
    assert train(model, loader, loss_fn=loss_fn) != pytest.approx(whole, rel=1e-3)


def test_many_small_bfloat16_losses_are_not_lost():
    """A bfloat16 sum of ones would stop at 256."""
    model = nn.Linear(1, 1).bfloat16()
    batch = torch.zeros(1, 1, dtype=torch.bfloat16), torch.zeros(1)
    loss_fn = lambda out, y: 0 * out.sum() + 1  # noqa: E731
    assert train(model, [batch] * 600, loss_fn=loss_fn) == 1


def test_a_pass_sets_the_mode_and_clears_old_gradients(data, loader):
    modes = []
    model = nn.Sequential(nn.Linear(4, 3), nn.Dropout(0.0)).eval()
    model.register_forward_hook(lambda module, *_: modes.append(module[1].training))
    expected = train(model, loader, lr=0.1)
    assert modes == [True] * 3
    again = nn.Sequential(nn.Linear(4, 3), nn.Dropout(0.0))
    assert expected > 0
    for p in again.parameters():
        p.grad = torch.full_like(p, 1e6)
    assert train(again, loader, lr=0.1) < 100


def test_the_answer_trains_what_a_reader_has():
    """Batch norm, a frozen layer, a small last batch, images, ten classes."""
    torch.manual_seed(0)
    layers = [nn.Flatten(), nn.Linear(64, 32), nn.BatchNorm1d(32), nn.Linear(32, 10)]
    model = nn.Sequential(*layers)
    model[1].requires_grad_(False)
    y = torch.arange(70) % 10
    x = torch.randn(70, 1, 8, 8) + F.one_hot(y, 64).view(70, 1, 8, 8) * 5
    names = {"model": model, "loader": DataLoader(TensorDataset(x, y), 32)}
    names |= {"loss_fn": nn.CrossEntropyLoss(), "device": CPU}
    names |= {"optimizer": torch.optim.AdamW(model.parameters(), lr=0.01)}
    assert set(ANSWER.yours) == set(names)
    frozen = model[1].weight.clone()
    exec(ANSWER.text, names)
    assert names["loss"] < 1 < math.log(10)
    assert torch.equal(model[1].weight, frozen)


def test_the_demonstration_learns():
    assert snippet.loss < 0.15
    predicted = snippet.model(snippet.x.to(snippet.device)).argmax(1).cpu()
    assert (predicted == (snippet.x.norm(dim=1) > 1.2)).float().mean() > 0.95


class Operations(TorchDispatchMode):
    """Notes every operation."""

    def __init__(self):
        super().__init__()
        self.names = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.names.append(func.overloadpacket.__name__)
        return func(*args, **(kwargs or {}))


def test_only_the_end_of_a_pass_waits_for_the_device(loader):
    """Meta tensors have no values: reading one raises, where a GPU would wait."""
    model, batches = nn.Linear(4, 3, device="meta"), list(loader)
    with Operations() as training, pytest.raises(RuntimeError, match="meta"):
        train(model, batches, device=torch.device("meta"))
    assert training.names.count("_local_scalar_dense") == 1
    assert training.names[-1] == "_local_scalar_dense"


def test_the_documented_errors(data, loader):
    x, y = data
    model = nn.Linear(4, 3)
    with raises_as_documented(PAGE, "RuntimeError: expected target dtype"):
        F.cross_entropy(model(x), y.float())
    with raises_as_documented(PAGE, "IndexError: Target 2 is out"):
        F.cross_entropy(model(x)[:, :2], torch.full_like(y, 2))
    with raises_as_documented(PAGE, "ZeroDivisionError: float division"):
        train(model, DataLoader(TensorDataset(*data), 16, drop_last=True))
    with raises_as_documented(PAGE, "RuntimeError: 0D or 1D"):
        F.cross_entropy(model(x), y.view(-1, 1))


@pytest.mark.skipif(torch.accelerator.is_available(), reason="it is pinned here")
def test_pinning_without_an_accelerator_warns(data):
    with raises_as_documented(PAGE, "UserWarning: 'pin_memory' argument is"):
        next(iter(DataLoader(TensorDataset(*data), pin_memory=True)))


def test_a_summed_loss_keeps_the_graph_of_every_batch(data, loader):
    model, total, sizes = nn.Linear(4, 3), 0, []
    for x, y in loader:
        total = total + F.cross_entropy(model(x), y)
        nodes, todo = set(), [total.grad_fn]
        while todo:
            node = todo.pop()
            if node is not None and node not in nodes:
                nodes.add(node)
                todo += [parent for parent, _ in node.next_functions]
        sizes.append(len(nodes))
    assert sizes[0] < sizes[1] < sizes[2]


def test_after_a_softmax_the_loss_has_the_floor_the_page_states():
    logits, y = torch.zeros(1, 10), torch.tensor([0])
    logits[0, 0] = 1000.0  # as sure as can be
    assert F.cross_entropy(logits, y) == 0
    floor = F.cross_entropy(logits.softmax(1), y).item()
    assert f"{floor:.2f}" == "1.46"
    assert floor == pytest.approx(math.log(math.e + 9) - 1)


def test_batch_norm_refuses_a_last_batch_of_one():
    with raises_as_documented(
        "training/basic-training-loop", "ValueError: Expected more than"
    ):
        nn.BatchNorm1d(32)(torch.ones(1, 32))
