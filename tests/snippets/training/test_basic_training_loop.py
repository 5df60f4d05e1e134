"""basic-training-loop: the updates against NumPy; what a pass may not touch."""

import math
from copy import deepcopy

import numpy as np
import pytest
import torch
import tqdm
from torch import nn
from torch.nn import functional as F
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.data import DataLoader, TensorDataset

from tests.helpers import load_snippet, raises_as_documented

snippet = load_snippet("training/basic_training_loop.py")
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
    """Softmax regression in float64: W (C, D) in place; mean loss, accuracy."""
    loss = hits = 0
    for start in range(0, len(x), 4):
        a, b = x[start : start + 4], y[start : start + 4]
        logits = a @ weight.T
        p = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
        rows = np.arange(len(b))
        loss -= np.log(p[rows, b]).sum()
        hits += (logits.argmax(1) == b).sum()
        p[rows, b] -= 1
        weight -= lr * p.T @ a / len(b)
    return loss / len(x), hits / len(x)


def train(model, loader, optimizer, device=CPU):
    return snippet.train(model, loader, nn.CrossEntropyLoss(), optimizer, device)


def evaluate(model, loader, device=CPU):
    return snippet.evaluate(model, loader, nn.CrossEntropyLoss(), device)


def test_two_epochs_equal_numpy(data, loader):
    torch.manual_seed(1)
    model = nn.Linear(4, 3, bias=False)
    weight = model.weight.detach().numpy().astype(np.float64)
    x, y = data[0].double().numpy(), data[1].numpy()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    for _ in range(2):
        expected, _ = numpy_epoch(weight, x, y, lr=0.5)
        assert train(model, loader, optimizer) == pytest.approx(expected, rel=1e-5)
        np.testing.assert_allclose(model.weight.detach(), weight, rtol=1e-5)
    expected = numpy_epoch(weight, x, y, lr=0)
    np.testing.assert_allclose(evaluate(model, loader), expected, rtol=1e-5)


def test_the_mean_over_batches_would_be_another_number(data, loader):
    torch.manual_seed(1)
    model = nn.Linear(4, 3)
    mean, accuracy = evaluate(model, loader)
    losses = [F.cross_entropy(model(x), y).item() for x, y in loader]
    whole = F.cross_entropy(model(data[0]), data[1]).item()
    assert mean == pytest.approx(whole, rel=1e-5)
    assert sum(losses) / 3 != pytest.approx(whole, rel=1e-2)
    hits = (model(data[0]).argmax(1) == data[1]).sum().item()
    assert accuracy == pytest.approx(hits / 10)


def test_evaluation_touches_nothing(loader):
    model = nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3), nn.Dropout())
    before = deepcopy(model.state_dict())
    first = evaluate(model, loader)
    assert evaluate(model, loader) == first
    torch.testing.assert_close(model.state_dict(), before, rtol=0, atol=0)
    assert all(p.grad is None for p in model.parameters())


def test_each_pass_sets_the_modes_it_needs(loader):
    model, seen = nn.Sequential(nn.Linear(4, 3), nn.Dropout()), []
    optimizer = torch.optim.SGD(model.parameters())
    model.register_forward_hook(
        lambda module, *_: seen.append((module[1].training, torch.is_grad_enabled()))
    )
    evaluate(model, loader)
    train(model, loader, optimizer)
    evaluate(model, loader)
    assert seen == [(False, False)] * 3 + [(True, True)] * 3 + [(False, False)] * 3
    assert torch.is_grad_enabled()


def test_the_demonstration_learns(capsys):
    snippet.main()
    printed = capsys.readouterr().out.splitlines()
    assert [line.partition(":")[0] for line in printed] == list("01234")
    assert int(printed[-1].rpartition(" ")[2].rstrip("%")) > 90


class Operations(TorchDispatchMode):
    """Notes every operation and whether a copy may run on its own."""

    def __init__(self):
        super().__init__()
        self.names, self.copies = [], []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.names.append(func.overloadpacket.__name__)
        if func.overloadpacket.__name__ == "_to_copy":
            self.copies.append(kwargs.get("non_blocking", False))
        return func(*args, **(kwargs or {}))


class Batches(list):
    """The batches of a loader, in the memory of this process."""

    def __init__(self, loader):
        super().__init__(loader)
        self.dataset = loader.dataset


def test_only_the_end_of_a_pass_waits_for_the_device(loader):
    """Meta tensors have no values: reading one raises, where a GPU would wait."""
    meta, model = torch.device("meta"), nn.Linear(4, 3, device="meta")
    optimizer = torch.optim.SGD(model.parameters())
    batches = Batches(loader)  # the loader itself reads a random number
    with Operations() as training, pytest.raises(RuntimeError, match="meta"):
        train(model, batches, optimizer, meta)
    assert training.names.count("_local_scalar_dense") == 1
    assert training.names[-1] == "_local_scalar_dense"
    with Operations() as evaluation, pytest.raises(NotImplementedError, match="meta"):
        evaluate(model, batches, meta)  # tolist
    assert "_local_scalar_dense" not in evaluation.names
    for operations in (training, evaluation):
        assert operations.copies[:6] == [True] * 6  # x and y of 3 batches


def test_the_documented_errors(data, loader):
    x, y = data
    model = nn.Linear(4, 3)
    with raises_as_documented(PAGE, "NameError: name 'epoch' is"):
        exec("for epoch in epoch(80): pass", {})
    with raises_as_documented(PAGE, "TypeError: 'module' object is"):
        tqdm(loader)
    with raises_as_documented(PAGE, "RuntimeError: expected target dtype"):
        F.cross_entropy(model(x), y.float())
    with raises_as_documented(PAGE, "RuntimeError: 0D or 1D"):
        F.cross_entropy(model(x), y.view(-1, 1))
    optimizer = torch.optim.SGD(model.parameters())
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1)
    with raises_as_documented(PAGE, "UserWarning: Detected call of"):
        scheduler.step()


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
