"""early-stopping: when the loop ends, and which weights it leaves."""

import copy
import math
import textwrap

import pytest
import torch
from torch import nn

from tests.helpers import ROOT, load_snippet, raises_as_documented

PAGE = "training/early-stopping"
SOURCE = (ROOT / "snippets/training/early_stopping.py").read_text().splitlines()


def lines(first, last):
    """The snippet's lines from the one that begins so to the one that ends so."""
    start = next(i for i, line in enumerate(SOURCE) if line.strip().startswith(first))
    end = next(i for i, line in enumerate(SOURCE[start:], start) if last in line)
    return "\n".join(SOURCE[start : end + 1]) + "\n"


LOOP = (
    lines("best_loss, best_epoch =", "best_epoch =")
    + "for epoch, val_loss in enumerate(losses):\n    model.fill_(epoch)\n"
    + lines("if val_loss <", "break")
    + lines("model.load_state_dict", "best")
)


class Weights:
    """One number in place of a model; it is that of the epoch."""

    def __init__(self):
        self.values = [None]

    def fill_(self, value):
        self.values[0] = value

    def state_dict(self):
        return self.values

    def load_state_dict(self, values):
        self.values = values


def run(losses, patience=2, min_delta=0.0):
    """The snippet's decision over these losses: the last epoch, the weights' epoch."""
    model = Weights()
    names = {"patience": patience, "min_delta": min_delta, "copy": copy}
    names |= {"model": model, "losses": losses}
    exec(LOOP, names)
    return names["epoch"], model.values[0]


@pytest.mark.parametrize(
    ("losses", "last", "best"),
    [
        ([3, 2, 1], 2, 2),  # it falls to the end
        ([3, 2, 4, 5, 0], 3, 1),  # 0 is never reached
        ([3, 4, 2, 4, 2, 1], 4, 2),  # one bad epoch is forgiven, an equal one is bad
        ([3, math.nan, math.nan, 1], 2, 0),
        ([1, 2], 1, 0),  # it ends before patience does
    ],
    ids=str,
)
def test_when_it_stops_and_what_it_keeps(losses, last, best):
    assert run(losses) == (last, best)


@pytest.mark.parametrize(("min_delta", "expected"), [(0.0, (3, 3)), (0.5, (2, 0))])
def test_min_delta_is_measured_from_the_best(min_delta, expected):
    assert run([3, 2.8, 2.6, 2.4], min_delta=min_delta) == expected


def test_without_a_number_there_is_no_best():
    with raises_as_documented(PAGE, "NameError: name 'best'"):
        run([math.nan] * 5)
    names = {"patience": 2, "min_delta": 0.0, "copy": copy, "model": Weights()}
    exec("def train(losses):\n" + textwrap.indent(LOOP, "    "), names)
    with raises_as_documented(PAGE, "UnboundLocalError: cannot access"):
        names["train"]([math.nan] * 5)


def test_the_modes_and_the_seed_of_the_demonstration():
    modes, register = [], nn.modules.module.register_module_forward_pre_hook

    def note(module, _):
        if isinstance(module, nn.Sequential):
            modes.append((module.training, torch.is_grad_enabled()))

    hook = register(note)
    try:
        torch.manual_seed(1)
        first = load_snippet("training/early_stopping.py").best_loss
        torch.manual_seed(2)
        assert load_snippet("training/early_stopping.py").best_loss == first
    finally:
        hook.remove()
    assert modes[::2] == [(True, True)] * (len(modes) // 2)
    assert modes[1::2] == [(False, False)] * (len(modes) // 2)


def test_the_demonstration_against_a_run_of_all_epochs(capsys):
    snippet = load_snippet("training/early_stopping.py")
    assert snippet.epoch == snippet.best_epoch + snippet.patience
    printed = f"stopped after epoch {snippet.epoch}, kept epoch {snippet.best_epoch}\n"
    assert capsys.readouterr().out == printed
    with torch.no_grad():  # the weights are those of the best epoch
        loss = snippet.loss_fn(snippet.model(snippet.x_val), snippet.y_val).item()
    assert loss == snippet.best_loss
    assert not snippet.model.training
    # Going on from there would overfit: the loss on new data never falls so far.
    losses = []
    for _ in range(100):
        snippet.optimizer.zero_grad()
        train_loss = snippet.loss_fn(snippet.model(snippet.x), snippet.y)
        train_loss.backward()
        snippet.optimizer.step()
        with torch.no_grad():
            output = snippet.model(snippet.x_val)
        losses.append(snippet.loss_fn(output, snippet.y_val).item())
    assert train_loss.item() < 0.1 < snippet.best_loss < losses[-1]
