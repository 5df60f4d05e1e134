"""train-val-loop: means by hand, modes, and the answer in a reader's file."""

from copy import deepcopy

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset
from torchmetrics.classification import MulticlassAccuracy

from tests.helpers import ROOT, load_snippet, recipes

CPU = torch.device("cpu")
BOOK = recipes()
ANSWER = BOOK["train-val-loop"].answer
snippet = load_snippet("training/train_val_loop.py")


@pytest.fixture
def loader():
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(10, 4, generator=generator)
    y = torch.randint(3, (10,), generator=generator)
    return DataLoader(TensorDataset(x, y), batch_size=4)  # 4, 4 and 2


def whole(model, loader):
    """Loss and accuracy of all samples in one batch."""
    x, y = loader.dataset.tensors
    logits = model(x)
    hits = (logits.argmax(1) == y).float().mean().item()
    return F.cross_entropy(logits, y).item(), hits


def evaluate(model, loader):
    return snippet.evaluate(model, loader, nn.CrossEntropyLoss(), CPU)


def test_a_pass_gives_means_over_samples(loader):
    torch.manual_seed(0)
    model, loss_fn = nn.Linear(4, 3), nn.CrossEntropyLoss()
    expected = whole(model, loader)
    assert evaluate(model, loader) == pytest.approx(expected)
    frozen = torch.optim.SGD(model.parameters(), lr=0)
    loss = snippet.train(model, loader, loss_fn, frozen, CPU)
    assert loss == pytest.approx(expected[0])
    means = [loss_fn(model(x), y).item() for x, y in loader]
    assert sum(means) / 3 != pytest.approx(expected[0], rel=1e-2)
    metric = MulticlassAccuracy(3, average="micro")
    for x, y in loader:
        metric.update(model(x), y)
    assert metric.compute().item() == pytest.approx(expected[1])


def test_dropped_samples_are_not_counted(loader):
    torch.manual_seed(0)
    model = nn.Linear(4, 3)
    first = DataLoader(TensorDataset(*(t[:8] for t in loader.dataset.tensors)), 8)
    dropping = DataLoader(loader.dataset, batch_size=4, drop_last=True)
    assert evaluate(model, dropping) == pytest.approx(whole(model, first))


def test_masks_are_counted_pixel_by_pixel():
    torch.manual_seed(0)
    x, y = torch.randn(5, 4, 6, 6), torch.randint(3, (5, 6, 6))
    loader, model = DataLoader(TensorDataset(x, y), 2), nn.Conv2d(4, 3, 1)
    assert evaluate(model, loader) == pytest.approx(whole(model, loader))


def test_targets_of_one_column_are_compared_with_every_other():
    torch.manual_seed(0)
    x, y = torch.randn(8, 4), torch.tensor([0.0, 1, 0, 0, 1, 0, 1, 0])[:, None]
    loader, model = DataLoader(TensorDataset(x, y), 8), nn.Linear(4, 1)
    found = snippet.evaluate(model, loader, nn.BCEWithLogitsLoss(), CPU)[1]
    assert found == 8 * 5 / 8  # 500 %: argmax is 0 for all, and five are 0
    hits = (model(x) > 0) == y
    assert hits.shape == (8, 1)
    by_sign = (model(x).detach().numpy() > 0) == (y.numpy() == 1)
    assert hits.sum() == by_sign.sum()


def test_train_is_that_of_the_basic_loop():
    basic = BOOK["basic-training-loop"].answer.code
    assert basic.partition("\n\n\nfor epoch")[0] in (
        ROOT / "snippets/training/train_val_loop.py"
    ).read_text("utf-8")


def test_evaluation_touches_nothing(loader):
    model = nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3), nn.Dropout())
    before = deepcopy(model.state_dict())
    first = evaluate(model, loader)
    assert evaluate(model, loader) == first
    torch.testing.assert_close(model.state_dict(), before, rtol=0, atol=0)
    assert all(p.grad is None for p in model.parameters())
    assert torch.is_grad_enabled()


def test_modes_and_gradients_of_the_answer(loader):
    """With `train` of the basic training loop, as it is pasted."""
    model, seen = nn.Sequential(nn.Linear(4, 3), nn.Dropout()), []
    model.register_forward_hook(
        lambda m, *_: seen.append((m[1].training, torch.is_grad_enabled()))
    )
    names = {"model": model, "train_loader": loader, "val_loader": loader}
    names |= {"loss_fn": nn.CrossEntropyLoss(), "device": CPU}
    names |= {"optimizer": torch.optim.SGD(model.parameters(), lr=0.1)}
    assert set(ANSWER.yours) == {*names, "train"}
    basic = BOOK["basic-training-loop"].answer.code
    exec("import torch\n" + basic.partition("\n\n\nfor epoch")[0], names)
    exec(ANSWER.text, names)
    epoch = [(True, True)] * 3 + [(False, False)] * 3
    assert seen == epoch * (names["epoch"] + 1)
    assert (names["val_loss"], names["accuracy"]) == pytest.approx(whole(model, loader))


def test_the_demonstration_tests_samples_that_it_never_saw(capsys):
    sets = [snippet.train_set, snippet.val_set, snippet.test_set]
    indices = [set(subset.indices) for subset in sets]
    assert [len(group) for group in indices] == [450, 100, 100]
    assert set().union(*indices) == set(range(650))
    assert type(snippet.train_loader.sampler).__name__ == "RandomSampler"
    loss_fn, device = snippet.loss_fn, snippet.device
    assert (
        snippet.evaluate(snippet.model, snippet.test_loader, loss_fn, device)[1] > 0.9
    )
