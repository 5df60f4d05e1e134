"""train-val-loop: means over samples by hand, modes, and which weights are tested."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset
from torchmetrics.classification import MulticlassAccuracy

from tests.helpers import load_snippet

CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def demonstration(tmp_path_factory):
    """The snippet, its output, and the weights after each call of its functions."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("run"))
        printed = []
        patch.setattr("builtins.print", printed.append)
        torch.manual_seed(1)
        snippet = load_snippet("training/train_val_loop.py")
        saved = torch.load("checkpoints/best.pt", weights_only=True)
    return snippet, printed, saved


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
    hits = (logits.argmax(1) == y).sum().item()
    return F.cross_entropy(logits, y).item(), hits / len(y)


def test_a_pass_gives_means_over_samples(demonstration, loader):
    snippet, _, _ = demonstration
    torch.manual_seed(0)
    model, loss_fn = nn.Linear(4, 3), nn.CrossEntropyLoss()
    expected = whole(model, loader)
    assert snippet.evaluate(model, loader, loss_fn, CPU) == pytest.approx(expected)
    frozen = torch.optim.SGD(model.parameters(), lr=0)
    loss = snippet.train(model, loader, loss_fn, frozen, CPU)
    assert loss == pytest.approx(expected[0])
    means = [loss_fn(model(x), y).item() for x, y in loader]
    assert sum(means) / 3 != pytest.approx(expected[0], rel=1e-2)
    metric = MulticlassAccuracy(3, average="micro")
    for x, y in loader:
        metric.update(model(x), y)
    assert metric.compute().item() == pytest.approx(expected[1])


def test_dropped_samples_are_not_counted(demonstration, loader):
    snippet, _, _ = demonstration
    torch.manual_seed(0)
    model, loss_fn = nn.Linear(4, 3), nn.CrossEntropyLoss()
    first = DataLoader(TensorDataset(*(t[:8] for t in loader.dataset.tensors)), 8)
    dropping = DataLoader(loader.dataset, batch_size=4, drop_last=True)
    frozen = torch.optim.SGD(model.parameters(), lr=0)
    loss = whole(model, first)[0]
    assert snippet.train(model, dropping, loss_fn, frozen, CPU) == pytest.approx(loss)
    assert snippet.evaluate(model, dropping, loss_fn, CPU)[0] == pytest.approx(loss)


def test_updates_equal_a_loop_by_hand(demonstration, loader):
    snippet, _, _ = demonstration
    torch.manual_seed(0)
    model = nn.Linear(4, 3, bias=False)
    weight = model.weight.detach().clone().requires_grad_()
    for x, y in loader:
        (grad,) = torch.autograd.grad(F.cross_entropy(x @ weight.T, y), weight)
        weight = (weight - 0.5 * grad).detach().requires_grad_()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    snippet.train(model, loader, nn.CrossEntropyLoss(), optimizer, CPU)
    torch.testing.assert_close(model.weight, weight)


def test_modes_and_gradients(demonstration, loader):
    snippet, _, _ = demonstration
    model, seen = nn.Linear(4, 3), []
    note = lambda m, *_: seen.append((m.training, torch.is_grad_enabled()))  # noqa: E731
    model.register_forward_hook(note)
    loss_fn, optimizer = nn.CrossEntropyLoss(), torch.optim.SGD(model.parameters())
    snippet.evaluate(model, loader, loss_fn, CPU)
    snippet.train(model, loader, loss_fn, optimizer, CPU)
    snippet.evaluate(model, loader, loss_fn, CPU)
    assert seen == [(False, False)] * 3 + [(True, True)] * 3 + [(False, False)] * 3


def test_the_weights_of_the_best_epoch_are_tested(demonstration):
    snippet, printed, saved = demonstration
    snippet_loss = snippet.evaluate(
        snippet.model, snippet.val_loader, snippet.loss_fn, snippet.device
    )[0]
    assert snippet_loss == pytest.approx(snippet.best_loss)
    assert saved["best_score"] == -snippet.best_loss
    losses = [float(line.split()[3]) for line in printed[:6]]
    assert f"{snippet.best_loss:.2f}" == f"{min(losses):.2f}"
    assert losses[-1] > min(losses)  # the last epoch was not the best
    for name, value in snippet.model.state_dict().items():
        assert torch.equal(value.cpu(), saved["model_state_dict"][name].cpu())
    accuracy = snippet.evaluate(
        snippet.model, snippet.test_loader, snippet.loss_fn, snippet.device
    )[1]
    assert accuracy > 0.85
    assert printed[6:] == [f"test {accuracy:.0%}"]


def test_keep_the_best_model_reads_the_score(demonstration, tmp_path):
    saved = demonstration[2]
    torch.save(saved, tmp_path / "best.pt")
    train = load_snippet("training/save_best_model.py").train
    for change, kept in [(-0.1, True), (0.1, False)]:
        train([saved["best_score"] + change], folder=tmp_path)
        best = torch.load(tmp_path / "best.pt", weights_only=True)
        assert (best["best_score"] == saved["best_score"]) is kept


def test_the_split_and_the_order_of_samples(demonstration):
    snippet, _, _ = demonstration
    sets = [snippet.train_set, snippet.val_set, snippet.test_set]
    indices = [set(subset.indices) for subset in sets]
    assert [len(group) for group in indices] == [450, 100, 100]
    assert set().union(*indices) == set(range(650))
    sampler = type(snippet.train_loader.sampler).__name__
    assert sampler == "RandomSampler"
    assert torch.equal(snippet.data.tensors[1], (snippet.x.norm(dim=1) > 1.2).long())
