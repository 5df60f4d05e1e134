"""err-scheduler-order: every cause warns, its fix does not; rates worked by hand."""

import warnings

import pytest
import torch
from torch import nn
from torch.optim import lr_scheduler

from tests.helpers import load_snippet, raises_as_documented

PAGE = "errors/err-scheduler-order"
pytestmark = pytest.mark.filterwarnings("error")


def make(kind=lr_scheduler.ExponentialLR, **options):
    """A parameter with a gradient, an optimizer at 0.8, and its scheduler."""
    weight = nn.Parameter(torch.ones(2))
    weight.grad = torch.ones(2)
    optimizer = torch.optim.SGD([weight], lr=0.8, momentum=0.9)
    return optimizer, kind(optimizer, **(options or {"gamma": 0.5}))


def test_the_snippet_warns_and_then_keeps_the_first_rate(capsys):
    snippet = load_snippet("errors/err_scheduler_order.py")
    assert len(snippet.caught) == 1
    assert capsys.readouterr().out.splitlines() == [
        "Detected call of `lr_scheduler.step()` before `optimizer.step()`.",
        *(f"epoch {epoch}: lr {0.8 * 0.5**epoch}" for epoch in range(3)),
    ]
    assert snippet.scheduler.get_last_lr() == [0.1]


def test_the_wrong_order_shifts_the_schedule_and_warns_once():
    optimizer, scheduler = make()
    with warnings.catch_warnings(record=True, action="always") as caught:
        rates = []
        for _ in range(3):
            scheduler.step()
            rates += scheduler.get_last_lr()
            optimizer.step()
    assert rates == [0.4, 0.2, 0.1]
    assert len(caught) == 1


def test_too_early_raises_as_documented():
    _, scheduler = make()
    with raises_as_documented(PAGE, "UserWarning: Detected call of"):
        scheduler.step()


def test_the_other_causes():
    optimizer, scheduler = make()
    torch.optim.SGD(optimizer.param_groups[0]["params"], lr=0.8).step()
    with pytest.raises(UserWarning, match="Detected call of"):
        scheduler.step()  # of the optimizer that has not been used
    optimizer, scheduler = make()
    optimizer.zero_grad()
    optimizer.step()  # to plot a schedule
    scheduler.step()
    assert optimizer.param_groups[0]["params"][0].tolist() == [1, 1]


def test_without_the_guard_a_skipped_step_warns():
    optimizer, scheduler = make()
    optimizer.zero_grad()
    scaler = torch.amp.GradScaler("cpu")
    (weight,) = optimizer.param_groups[0]["params"]
    scaler.scale(weight.sum() * 1e37).backward()
    scaler.step(optimizer)
    scaler.update()
    assert scaler.get_scale() == 65536 / 2
    assert weight.tolist() == [1, 1]
    with pytest.raises(UserWarning, match="Detected call of"):
        scheduler.step()


def test_a_schedule_of_epochs_stepped_in_batches():
    optimizer, scheduler = make(lr_scheduler.StepLR, step_size=30)
    for _ in range(300):
        optimizer.step()
        scheduler.step()
    assert scheduler.get_last_lr()[0] == pytest.approx(0.8e-10)


def test_other_messages():
    optimizer, scheduler = make()
    optimizer.step = lambda: None
    with raises_as_documented(PAGE, "UserWarning: Seems like `optimizer.step()`"):
        scheduler.step()
    optimizer, scheduler = make(lr_scheduler.OneCycleLR, max_lr=0.1, total_steps=3)
    with raises_as_documented(PAGE, "ValueError: Tried to step 4 times."):
        for _ in range(4):
            optimizer.step()
            scheduler.step()
    optimizer, scheduler = make(lr_scheduler.ReduceLROnPlateau, factor=0.5)
    with raises_as_documented(PAGE, "TypeError: ReduceLROnPlateau.step() missing"):
        scheduler.step()
    with raises_as_documented(PAGE, "TypeError: StepLR.__init__() got an unexpected"):
        make(lr_scheduler.StepLR, step_size=1, verbose=True)
    optimizer, scheduler = make()
    optimizer.step()
    with raises_as_documented(PAGE, "UserWarning: The epoch parameter in"):
        scheduler.step(3)
    with raises_as_documented(PAGE, "UserWarning: To get the last learning rate"):
        scheduler.get_lr()
    with raises_as_documented(PAGE, "KeyError:"):
        make(lr_scheduler.StepLR, step_size=1, last_epoch=5)
