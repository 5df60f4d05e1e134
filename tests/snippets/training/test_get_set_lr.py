"""get-set-lr: the rate that a step uses, by hand; who overwrites it, and who not."""

import pytest
import torch
from torch.optim import lr_scheduler

from tests.helpers import load_snippet, raises_as_documented

PAGE = "training/get-set-lr"


def sgd(lr=0.1, groups=1):
    weights = [{"params": [torch.nn.Parameter(torch.zeros(1))]} for _ in range(groups)]
    return torch.optim.SGD(weights, lr=lr)


def test_what_the_snippet_reads_and_sets(capsys):
    snippet = load_snippet("training/get_set_lr.py")
    assert snippet.lr == 1e-3
    rates = [1e-4, 1e-4, 5e-5, 5e-5]  # half every two epochs
    expected = [f"epoch {i}: lr {rate:.0e}" for i, rate in enumerate(rates)]
    assert capsys.readouterr().out.splitlines() == ["was 0.001", *expected]


def test_the_next_step_uses_the_new_rate():
    optimizer = sgd(lr=0.5)
    (weight,) = optimizer.param_groups[0]["params"]
    weight.grad = torch.ones(1)
    optimizer.param_groups[0]["lr"] = 0.125
    optimizer.step()
    assert weight.item() == -0.125


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda o: lr_scheduler.LambdaLR(o, lambda i: 0.5**i), 0.1 / 4),
        (lambda o: lr_scheduler.OneCycleLR(o, 0.1, total_steps=4), None),
        (lambda o: lr_scheduler.StepLR(o, 2, gamma=0.1), 0.9),
        (lambda o: lr_scheduler.MultiStepLR(o, [2], gamma=0.1), 0.9),
        # From epoch 1 to 2 of 4: (1 + cos(pi / 2)) / (1 + cos(pi / 4)).
        (lambda o: lr_scheduler.CosineAnnealingLR(o, 4), 9 / (1 + 0.5**0.5)),
    ],
    ids=["lambda", "onecycle", "step", "multistep", "cosine"],
)
def test_which_schedulers_overwrite_a_rate_set_by_hand(make, expected):
    optimizer, untouched = sgd(), sgd()
    for each, change in [(optimizer, True), (untouched, False)]:
        scheduler = make(each)
        each.step()
        scheduler.step()
        if change:
            each.param_groups[0]["lr"] = 9.0
            assert scheduler.get_last_lr() != [9.0]  # stale
        each.step()
        scheduler.step()
    lr = optimizer.param_groups[0]["lr"]
    if expected is None:
        expected = untouched.param_groups[0]["lr"]
    assert lr == pytest.approx(expected)


def test_an_attribute_and_the_defaults_are_not_read():
    optimizer = sgd()
    optimizer.lr = optimizer.defaults["lr"] = 0.5
    assert optimizer.param_groups[0]["lr"] == 0.1
    optimizer.add_param_group({"params": [torch.nn.Parameter(torch.zeros(1))]})
    assert [group["lr"] for group in optimizer.param_groups] == [0.1, 0.5]


def test_a_rate_that_is_a_tensor():
    weight = torch.nn.Parameter(torch.zeros(1))
    optimizer = torch.optim.SGD([weight], lr=torch.tensor(0.5))
    optimizer.param_groups[0]["lr"].fill_(0.125)
    weight.grad = torch.ones(1)
    optimizer.step()
    assert weight.item() == -0.125


def test_the_documented_messages():
    optimizer = torch.optim.AdamW(torch.nn.Linear(1, 1).parameters())
    with raises_as_documented(PAGE, "AttributeError: 'AdamW' object"):
        optimizer.lr  # noqa: B018
    with raises_as_documented(PAGE, "TypeError: list indices must"):
        optimizer.param_groups["lr"]
    scheduler = lr_scheduler.StepLR(optimizer, 1)
    with raises_as_documented(PAGE, "AttributeError: 'StepLR' object"):
        scheduler.print_lr()
    with raises_as_documented(PAGE, "UserWarning: To get the"):
        scheduler.get_lr()


def test_a_new_scheduler_sets_the_rate_at_once():
    optimizer = sgd(lr=0.5)
    lr_scheduler.LambdaLR(optimizer, lambda epoch: (epoch + 1) / 10)
    (group,) = optimizer.param_groups
    assert (group["lr"], group["initial_lr"]) == (0.05, 0.5)
