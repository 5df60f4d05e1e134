"""onecycle-multistep: every rate worked by hand; resuming; what is refused."""

import math

import pytest
import torch
from torch.optim import lr_scheduler

from tests.helpers import ROOT, load_snippet, raises_as_documented

PAGE = "training/onecycle-multistep"


def sgd(groups=1, **options):
    weights = [{"params": [torch.nn.Parameter(torch.zeros(1))]} for _ in range(groups)]
    return torch.optim.SGD(weights, lr=0.1, **options)


def one_cycle(step, total=10, high=0.1):
    """The rate of a step: a cosine up in 30 %, then a cosine down to high / 250000."""
    peak = 0.3 * total - 1
    low, start = (high / 25 / 1e4, peak) if step > peak else (high / 25, 0)
    share = (step - start) / (total - 1 - peak) if step > peak else 1 - step / peak
    return low + (high - low) * (1 + math.cos(math.pi * share)) / 2


def test_the_snippet_prints_the_rates_worked_by_hand(capsys):
    load_snippet("training/onecycle_multistep.py")
    cycle = [f"{one_cycle(i, 900):.3f}" for i in (0, 269, 899)]
    assert capsys.readouterr().out.splitlines() == [
        "MultiStepLR, epochs 29, 30, 60: 0.100 0.010 0.001",
        # 0.7 is the best, in epoch 1; then six epochs, more than patience.
        "ReduceLROnPlateau, epochs 7, 8: 0.100 0.010",
        "OneCycleLR, batches 0, 269, 899: " + " ".join(cycle),
    ]


def test_the_lines_of_the_table_run():
    page = (ROOT / f"docs/en/{PAGE}.md").read_text(encoding="utf-8")
    rows = [line.split("|") for line in page.splitlines() if "`scheduler = " in line]
    assert len(rows) == 3
    for row in rows:
        names = vars(lr_scheduler) | {"epochs": 90, "loader": [0] * 10}
        names |= {"optimizer": sgd(momentum=0.9), "val_loss": 1.0}
        exec(row[2].strip(" `"), names)
        names["optimizer"].step()
        exec(row[3].rpartition(": ")[2].strip(" `"), names)
        assert names["scheduler"].last_epoch == 1


@pytest.mark.parametrize("cycle", [True, False])
def test_one_cycle_replaces_the_beta_of_adamw(cycle):
    weight = torch.nn.Parameter(torch.zeros(1))
    optimizer = torch.optim.AdamW([weight], betas=(0.8, 0.99))
    options = {"max_lr": 0.1, "total_steps": 10, "cycle_momentum": cycle}
    lr_scheduler.OneCycleLR(optimizer, **options)
    assert optimizer.param_groups[0]["betas"] == ((0.95 if cycle else 0.8), 0.99)


def test_one_cycle_and_its_end():
    optimizer = sgd(momentum=0.9)
    scheduler = lr_scheduler.OneCycleLR(optimizer, max_lr=0.1, total_steps=10)
    (group,) = optimizer.param_groups
    momentum = []
    for step in range(10):
        assert group["lr"] == pytest.approx(one_cycle(step))
        momentum.append(group["momentum"])
        optimizer.step()
        if step < 9:
            scheduler.step()
    assert min(momentum) == momentum[2] == pytest.approx(0.85)  # at the highest rate
    assert momentum[0] == momentum[-1] == pytest.approx(0.95)
    scheduler.step()
    with raises_as_documented(PAGE, "ValueError: Tried to step"):
        scheduler.step()


def test_one_cycle_with_groups():
    optimizer = sgd(groups=2)
    lr_scheduler.OneCycleLR(optimizer, max_lr=[1e-4, 1e-3], total_steps=10)
    rates = [group["lr"] for group in optimizer.param_groups]
    assert rates == pytest.approx([1e-4 / 25, 1e-3 / 25])
    with raises_as_documented(PAGE, "ValueError: max_lr must have"):
        lr_scheduler.OneCycleLR(optimizer, max_lr=[0.1], total_steps=10)


def after(losses, **options):
    """The rate that ReduceLROnPlateau leaves."""
    optimizer = sgd()
    scheduler = lr_scheduler.ReduceLROnPlateau(optimizer, patience=1, **options)
    for loss in losses:
        optimizer.step()
        scheduler.step(loss)
    return optimizer.param_groups[0]["lr"]


def test_a_rising_accuracy_needs_mode_max():
    accuracies = [0.5, 0.6, 0.7]
    assert after(accuracies) == pytest.approx(0.01)
    assert after(accuracies, mode="max") == 0.1


def test_plateau_resumed():
    optimizer = sgd()
    first = lr_scheduler.ReduceLROnPlateau(optimizer, patience=1)
    for loss in [0.5, 0.6]:
        optimizer.step()
        first.step(loss)
    assert (first.state_dict()["best"], first.state_dict()["num_bad_epochs"]) == (
        0.5,
        1,
    )
    second = lr_scheduler.ReduceLROnPlateau(optimizer, patience=1)
    second.load_state_dict(first.state_dict())
    second.step(0.6)
    assert optimizer.param_groups[0]["lr"] == pytest.approx(0.01)


def test_the_documented_messages():
    optimizer = sgd()
    with raises_as_documented(PAGE, "TypeError: ReduceLROnPlateau.step() missing"):
        lr_scheduler.ReduceLROnPlateau(optimizer).step()
    with raises_as_documented(PAGE, "TypeError: ReduceLROnPlateau.__init__()"):
        lr_scheduler.ReduceLROnPlateau(optimizer, verbose=True)
    with raises_as_documented(PAGE, "ValueError: You must define"):
        lr_scheduler.OneCycleLR(optimizer, max_lr=0.1)
    adagrad = torch.optim.Adagrad([torch.nn.Parameter(torch.zeros(1))])
    with raises_as_documented(PAGE, "ValueError: optimizer must support"):
        lr_scheduler.OneCycleLR(adagrad, max_lr=0.1, total_steps=10)
