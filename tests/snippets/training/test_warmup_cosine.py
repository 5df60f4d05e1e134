"""warmup-cosine: every rate by hand and against transformers; resuming."""

import io
import math

import pytest
import torch
from torch.optim import lr_scheduler

from tests.helpers import load_snippet, raises_as_documented, recipes

PAGE = "training/warmup-cosine"
TOTAL, WARMUP = 12, 4


def sgd():
    return torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=0.1)


def warmup_and(after):
    """The page's schedule over a new optimizer, with what follows the warmup."""
    optimizer = sgd()
    warmup = lr_scheduler.LinearLR(optimizer, start_factor=0.01, total_iters=WARMUP)
    chain = [warmup, after(optimizer)]
    return lr_scheduler.SequentialLR(optimizer, chain, milestones=[WARMUP])


def cosine(optimizer):
    return lr_scheduler.CosineAnnealingLR(optimizer, T_max=TOTAL - WARMUP)


def rates(scheduler, steps):
    """The rate of each update."""
    found = []
    for _ in range(steps):
        found.append(scheduler.optimizer.param_groups[0]["lr"])
        scheduler.optimizer.step()
        scheduler.step()
    return found


def by_hand(step):
    if step < WARMUP:
        return 0.1 * (0.01 + 0.99 * step / WARMUP)
    done = (step - WARMUP) / (TOTAL - WARMUP)
    return 0.1 * (1 + math.cos(math.pi * done)) / 2


def test_the_snippet_prints_the_rates_worked_by_hand(capsys):
    load_snippet("training/warmup_cosine.py")
    expected = [f"step {i}: lr {by_hand(i):.4f}" for i in range(TOTAL)]
    assert capsys.readouterr().out.splitlines() == expected
    assert expected[0].endswith("0.0010")
    assert expected[4].endswith("0.1000")
    assert expected[8].endswith("0.0500")  # half of the fall


def test_zero_after_the_last_step_and_a_rise_beyond_it():
    found = rates(warmup_and(cosine), TOTAL + 3)
    assert found[TOTAL] == pytest.approx(0, abs=1e-12)
    assert found[TOTAL] < found[TOTAL + 1] < found[TOTAL + 2]
    assert found[TOTAL + 1] == pytest.approx(by_hand(TOTAL + 1))


def test_the_same_cosine_as_in_transformers():
    from transformers import get_cosine_schedule_with_warmup

    theirs = rates(get_cosine_schedule_with_warmup(sgd(), WARMUP, TOTAL), TOTAL)
    assert theirs[0] == 0
    assert theirs[WARMUP:] == pytest.approx(rates(warmup_and(cosine), TOTAL)[WARMUP:])


def test_resumed_in_the_middle_it_goes_on():
    scheduler, resumed = warmup_and(cosine), warmup_and(cosine)
    rates(scheduler, 6)
    file = io.BytesIO()
    states = [scheduler.optimizer.state_dict(), scheduler.state_dict()]
    torch.save(states, file)
    file.seek(0)
    optimizer_state, state = torch.load(file, weights_only=True)
    resumed.optimizer.load_state_dict(optimizer_state)
    resumed.load_state_dict(state)
    assert rates(resumed, 6) == rates(scheduler, 6)
    assert "lr_lambdas" in lr_scheduler.LambdaLR(sgd(), lambda _: 1.0).state_dict()
    assert lr_scheduler.LambdaLR(sgd(), lambda _: 1.0).state_dict()["lr_lambdas"] == [
        None
    ]


def test_the_variants():
    steps = rates(warmup_and(lambda o: lr_scheduler.MultiStepLR(o, [3])), 9)
    assert steps[WARMUP:] == pytest.approx([0.1] * 3 + [0.01] * 2)  # 3 after the 4
    alone = lr_scheduler.LinearLR(sgd(), start_factor=0.01, total_iters=WARMUP)
    assert rates(alone, 6) == pytest.approx([by_hand(i) for i in range(4)] + [0.1] * 2)
    restarts = lr_scheduler.CosineAnnealingWarmRestarts(sgd(), T_0=2, T_mult=2)
    assert rates(restarts, 6)[::2] == pytest.approx([0.1, 0.1, 0.05])
    low = lr_scheduler.CosineAnnealingLR(sgd(), T_max=4, eta_min=1e-5)
    assert rates(low, 5)[-1] == pytest.approx(1e-5)
    double = lr_scheduler.LambdaLR(sgd(), lambda step: 2.0**step)
    assert rates(double, 3) == pytest.approx([0.1, 0.2, 0.4])


@pytest.mark.parametrize(("warmup_steps", "reached"), [(2.5, False), (50 // 20, True)])
def test_a_fraction_of_a_step_misses_the_maximum(warmup_steps, reached):
    optimizer, found = sgd(), []
    names = {"optimizer": optimizer, "warmup_steps": warmup_steps}
    names |= {"epochs": 5, "loader": range(10)}

    def train_step(_):
        found.append(optimizer.param_groups[0]["lr"])
        optimizer.step()

    exec(recipes()["warmup-cosine"].answer.text, names | {"train_step": train_step})
    assert (max(found) == pytest.approx(0.1)) is reached
    assert len(found) == 50
    assert optimizer.param_groups[0]["lr"] < 1e-3 * max(found)  # the fall ends there


def test_what_is_refused():
    with raises_as_documented(PAGE, "ValueError: Starting multiplicative factor"):
        lr_scheduler.LinearLR(sgd(), start_factor=0)
    scheduler = cosine(sgd())
    scheduler.optimizer.step()
    with raises_as_documented(PAGE, "UserWarning: The epoch parameter"):
        scheduler.step(0)
    with pytest.raises(ValueError, match="does not support `ReduceLROnPlateau`"):
        warmup_and(lr_scheduler.ReduceLROnPlateau)
