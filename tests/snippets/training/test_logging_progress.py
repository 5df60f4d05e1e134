"""logging-progress: the file of TensorBoard against losses kept by hand."""

import io
from collections import deque
from pathlib import Path

import pytest
import torch
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from torch.utils.data import DataLoader, IterableDataset
from torch.utils.tensorboard import SummaryWriter
from tqdm import tqdm

from tests.helpers import load_snippet, recipes

ANSWER = recipes()["logging-progress"].answer


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def scalars(folder, tag):
    events = EventAccumulator(str(folder))
    events.Reload()
    return [(e.step, pytest.approx(e.value)) for e in events.Scalars(tag)]


def answer(loader, train_step, epochs):
    """Run the answer, for so many epochs."""
    scope = {"loader": loader, "train_step": train_step}
    assert set(ANSWER.yours) == set(scope)
    assert "range(3)" in ANSWER.text
    exec(ANSWER.text.replace("range(3)", f"range({epochs})"), scope)


def run(batches, epochs=1):
    """Return the losses of all steps."""
    losses = []

    def train_step(x, y):
        assert y.item() == len(losses) % batches
        losses.append(x.square().mean().item())
        return torch.tensor(losses[-1], requires_grad=True) * 1

    torch.manual_seed(0)
    loader = [(torch.randn(4, 2), torch.tensor(i)) for i in range(batches)]
    answer(loader, train_step, epochs)
    return losses


def only_folder():
    """The folder that the writer made by itself."""
    (folder,) = Path("runs").iterdir()
    return folder


def test_the_logged_losses_and_their_steps(capsys):
    losses = run(batches=130, epochs=2)
    found = scalars(only_folder(), "loss/train")
    assert [step for step, _ in found] == [0, 100, 130, 230]
    assert [losses[step] for step, _ in found] == [value for _, value in found]
    first, second = capsys.readouterr().err.split("epoch 1:", maxsplit=1)
    assert "epoch 0: 100%" in first
    assert "130/130" in first
    assert f"loss={losses[100]:.3g}" in first
    assert f"loss={losses[230]:.3g}" in second


def test_an_epoch_of_few_batches_is_logged_too():
    losses = run(batches=3, epochs=2)
    assert scalars(only_folder(), "loss/train") == [(0, losses[0]), (3, losses[3])]


def test_a_loader_without_a_length():
    class Stream(IterableDataset):
        def __iter__(self):
            yield from ((torch.ones(2), torch.ones(1)) for _ in range(8))

    loader = DataLoader(Stream(), 4)
    with pytest.raises(TypeError, match="has no len"):
        len(loader)
    answer(loader, lambda x, y: (x - y).sum(), epochs=2)
    steps = [step for step, _ in scalars(only_folder(), "loss/train")]
    assert steps == [0, 2]


def test_the_step_of_training_by_hand():
    snippet = load_snippet("training/logging_progress.py")
    model = snippet.model.eval()
    x, y = torch.randn(2, 4, 1)
    expected = (model(x) - y).square().mean()
    grads = torch.autograd.grad(expected, list(model.parameters()))
    moved = [p - 0.01 * g for p, g in zip(model.parameters(), grads, strict=True)]
    assert snippet.train_step(x, y).item() == pytest.approx(expected.item())
    assert model.training
    torch.testing.assert_close(list(model.parameters()), moved)


def test_the_program(capsys):
    load_snippet("training/logging_progress.py")
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
