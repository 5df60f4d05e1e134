"""early-stopping: when the loop ends, and which weights it leaves."""

import math
import textwrap

import pytest
import torch
from torch import nn
from transformers import TrainingArguments

from tests.helpers import load_snippet, raises_as_documented, recipes

PAGE = "training/early-stopping"
ANSWER = recipes()["early-stopping"].answer


class Weights:
    """One number in place of a model; it is that of the epoch."""

    def __init__(self):
        self.values = [-1]

    def train_one_epoch(self):
        self.values[0] += 1

    def state_dict(self):
        return self.values

    def load_state_dict(self, values):
        self.values = values


def program(losses, patience=2, min_delta=0.0):
    """The answer as it is pasted, with other numbers, and the reader's names."""
    code = ANSWER.text.replace("= 10, 1e-3", f"= {patience}, {min_delta}")
    code = code.replace("range(500)", f"range({len(losses)})")
    assert code.count(f"= {patience}, {min_delta}\n") == 1
    model = Weights()
    names = {"evaluate": iter(losses).__next__, "model": model}
    return code, names | {"train_one_epoch": model.train_one_epoch}


def run(losses, **numbers):
    """What the answer does with these losses: the last epoch, the weights' epoch."""
    code, names = program(losses, **numbers)
    exec(code, names)
    return names["epoch"], names["model"].values[0]


def test_a_reader_brings_a_model_and_two_functions():
    assert set(ANSWER.yours) == {"model", "train_one_epoch", "evaluate"}


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


def test_a_loss_as_small_as_min_delta_never_gets_better():
    losses = [8e-4, 4e-4, 2e-4, 1e-4, 5e-5]
    assert run(losses, min_delta=1e-3) == (2, 0)
    assert run(losses, min_delta=1e-5) == (4, 4)


def test_the_trainer_wants_two_equal_strategies(tmp_path):
    with pytest.raises(ValueError, match="save and eval strategy to match"):
        TrainingArguments(tmp_path, load_best_model_at_end=True)


def test_without_a_number_there_is_no_best():
    with raises_as_documented(PAGE, "NameError: name 'best'"):
        run([math.nan] * 5)
    code, names = program([math.nan] * 5)
    exec("def train():\n" + textwrap.indent(code, "    "), names)
    with raises_as_documented(PAGE, "UnboundLocalError: cannot access"):
        names["train"]()


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
    *epochs, end = modes[: len(modes) // 2]
    assert epochs[::2] == [(True, True)] * (len(epochs) // 2)
    assert [*epochs[1::2], end] == [(False, False)] * (len(epochs) // 2 + 1)


def test_the_demonstration_against_a_run_of_all_epochs(capsys):
    snippet = load_snippet("training/early_stopping.py")
    assert snippet.epoch == snippet.best_epoch + snippet.patience
    last, best = capsys.readouterr().out.splitlines()
    end = f"{snippet.val_loss:.2f} in epoch {snippet.epoch}, where it stopped"
    assert last.endswith(end)
    end = f"{snippet.best_loss:.2f} with the weights of epoch {snippet.best_epoch}"
    assert best.endswith(end)
    assert snippet.best_loss < snippet.val_loss
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
