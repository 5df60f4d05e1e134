"""logging-progress: the file of TensorBoard against losses kept by hand."""

import io
from collections import deque
from pathlib import Path

import pytest
import torch
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from torch import nn
from torch.utils.data import DataLoader, IterableDataset
from torch.utils.tensorboard import SummaryWriter
from tqdm import tqdm

from tests.helpers import load_snippet

snippet = load_snippet("training/logging_progress.py")


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def scalars(folder, tag):
    events = EventAccumulator(str(folder))
    events.Reload()
    return [(e.step, pytest.approx(e.value)) for e in events.Scalars(tag)]


class Loss(nn.MSELoss):
    """Keeps what it returns."""

    def __init__(self):
        super().__init__()
        self.values = []

    def forward(self, x, y):
        loss = super().forward(x, y)
        self.values.append(loss.item())
        return loss


def run(batches, epochs=1):
    """Train; return model, batches, and the losses of all steps."""
    torch.manual_seed(0)
    model = nn.Linear(2, 1).eval()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    loader = [(torch.randn(4, 2), torch.randn(4, 1)) for _ in range(batches)]
    loss_fn = Loss()
    snippet.train(model, loader, loss_fn, optimizer, torch.device("cpu"), epochs)
    return model, loader, loss_fn.values


def only_folder():
    """The folder that the writer made by itself."""
    (folder,) = Path("runs").iterdir()
    return folder


def test_the_logged_losses_and_their_steps(capsys):
    _, _, losses = run(batches=130, epochs=2)
    found = scalars(only_folder(), "loss/train")
    assert [step for step, _ in found] == [0, 100, 130, 230]
    assert [losses[step] for step, _ in found] == [value for _, value in found]
    first, second = capsys.readouterr().err.split("epoch 1:", maxsplit=1)
    assert "epoch 0: 100%" in first
    assert "130/130" in first
    assert f"loss={losses[100]:.3g}" in first
    assert f"loss={losses[230]:.3g}" in second


def test_an_epoch_of_few_batches_is_logged_too():
    _, _, losses = run(batches=3, epochs=2)
    assert scalars(only_folder(), "loss/train") == [(0, losses[0]), (3, losses[3])]


def test_a_loader_without_a_length():
    class Stream(IterableDataset):
        def __iter__(self):
            yield from ((torch.ones(2), torch.ones(1)) for _ in range(8))

    model, loader = nn.Linear(2, 1), DataLoader(Stream(), 4)
    with pytest.raises(TypeError, match="has no len"):
        len(loader)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    snippet.train(model, loader, Loss(), optimizer, torch.device("cpu"), epochs=2)
    steps = [step for step, _ in scalars(only_folder(), "loss/train")]
    assert steps == [0, 2]


def test_the_steps_of_training_by_hand():
    model, loader, losses = run(batches=3)
    assert model.training
    torch.manual_seed(0)
    other = nn.Linear(2, 1)
    for (x, y), loss in zip(loader, losses, strict=True):
        expected = (other(x) - y).square().mean()
        assert loss == pytest.approx(expected.item())
        for p, grad in zip(
            other.parameters(),
            torch.autograd.grad(expected, list(other.parameters())),
            strict=True,
        ):
            p.data -= 0.01 * grad
    torch.testing.assert_close(model.state_dict(), other.state_dict())


def test_the_program(capsys):
    snippet.main()
    assert capsys.readouterr().out == "y = 3.00 x + 1.00\n"
    steps = [step for step, _ in scalars(only_folder(), "loss/train")]
    assert steps == list(range(0, 600, 100))


def test_the_writer_is_closed(monkeypatch):
    closed, close = [], SummaryWriter.close
    monkeypatch.setattr(SummaryWriter, "close", lambda w: (closed.append(w), close(w)))
    run(batches=1)
    assert len(closed) == 1


def test_the_mean_of_the_variants_needs_no_graph():
    recent = deque(maxlen=3)
    for value in (50.0, 1.0, 2.0, 6.0):
        loss = torch.tensor(value, requires_grad=True) * 1
        recent.append(loss.detach())
    assert not torch.stack([*recent]).requires_grad
    assert torch.stack([*recent]).mean().item() == 3.0


def test_a_kept_loss_shows_its_graph(capsys):
    bar = tqdm([1])
    for _ in bar:
        bar.set_postfix(loss=torch.ones((), requires_grad=True) * 0.5)
    assert "loss=tensor(0.5000, grad_fn=" in capsys.readouterr().err


def test_the_length_is_hidden_by_enumerate(capsys):
    for _ in tqdm(enumerate([1, 2])):
        pass
    assert "0it [" in capsys.readouterr().err
    for _ in enumerate(tqdm([1, 2])):
        pass
    assert "2/2" in capsys.readouterr().err
    for _ in tqdm(zip([1, 2], [3, 4], strict=True), total=2):
        pass
    assert "2/2" in capsys.readouterr().err


def test_no_bar_in_a_file_or_in_other_processes():
    file = io.StringIO()
    for disable in (None, True):
        assert list(tqdm([1, 2], file=file, disable=disable)) == [1, 2]
    assert file.getvalue() == ""
