"""slow-training: the share of waiting, with a clock of its own."""

import pytest
import torch

from tests.helpers import load_snippet, recipes

ANSWER = recipes()["slow-training"].answer


def share(loader, train_step):
    """What the answer finds, with the reader's two names."""
    names = {"loader": loader, "train_step": train_step}
    exec(ANSWER.text, names)
    return names["share"]


def test_a_reader_brings_two_names():
    assert set(ANSWER.yours) == {"loader", "train_step"}


def test_the_share_of_waiting(clock, capsys):
    def loader():
        for seconds in (60, 3, 1, 2):  # the workers start with the first
            clock(seconds)
            yield seconds

    seen = []

    def train_step(batch):
        seen.append(batch)
        clock(1)
        return torch.zeros(())

    assert share(loader(), train_step) == 6 / 9
    assert seen == [60, 3, 1, 2]
    assert capsys.readouterr().out == "67% of the time waiting for data\n"


def test_a_long_epoch_is_cut_and_one_batch_never_waits(clock):
    seen = []

    def train_step(batch):
        seen.append(batch)
        clock(1)
        return torch.zeros(())

    assert share([7] * 250, train_step) == 0  # a list in memory
    assert seen == [7] * 100


def test_a_gpu_is_waited_for(clock):
    """What it takes until the loss is there counts as computing."""

    class Loss:
        def item(self):
            clock(4)

    def loader():
        for seconds in (60, 1):
            clock(seconds)
            yield 0

    assert share(loader(), lambda batch: Loss()) == 1 / 5


def test_the_demonstration_trains_and_its_files_are_slow(clock):
    snippet = load_snippet("errors/slow_training.py")
    assert snippet.share == 1  # with this clock only sleep takes time
    assert len(snippet.loader) == 8
    before = snippet.model.weight.detach().clone()
    x, y = torch.randn(4, 64), torch.tensor([0, 1, 2, 3])
    log_probs = snippet.model(x).double().log_softmax(1)
    loss = snippet.train_step((x, y))
    by_hand = -sum(log_probs[i, label].item() for i, label in enumerate(y)) / 4
    assert loss.item() == pytest.approx(by_hand, rel=1e-4)
    assert not torch.equal(snippet.model.weight, before)
