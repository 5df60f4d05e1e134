"""data-vs-compute-bottleneck: seconds by a clock of its own, worked by hand."""

import pytest
import torch

from tests.helpers import load_snippet

snippet = load_snippet("performance/data_vs_compute_bottleneck.py")


class Run:
    """A loader and a step that take set times; the first 20 steps are slow."""

    def __init__(self, clock, wait, work, count=41):
        self.steps, self.clock, self.work = [], clock, work
        self.drawn, self.loader = 0, self.load(wait, count)

    def load(self, wait, count):
        for number in range(count):
            self.clock(wait)
            self.drawn += 1
            yield number

    def step(self, batch):
        self.clock(self.work + (5 if len(self.steps) < 20 else 0))
        self.steps.append(batch)
        return torch.tensor(0.5)


@pytest.mark.parametrize(("wait", "work"), [(3, 1), (1, 3), (2, 2), (0, 4), (2.125, 2)])
def test_seconds_per_step(clock, wait, work):
    run = Run(clock, wait, work)
    assert snippet.compare(run.loader, run.step) == (wait + work, work)
    assert run.steps == [*range(1, 41), *[0] * 20]


def test_it_draws_41_batches(clock):
    run = Run(clock, 1, 1, count=100)
    snippet.compare(run.loader, run.step)
    assert run.drawn == 41
    run = Run(clock, 1, 1, count=40)
    with pytest.raises(StopIteration):
        snippet.compare(run.loader, run.step)


def test_another_number_of_steps(clock):
    run = Run(clock, 2, 1, count=100)
    run.steps = [None] * 20  # none is slow
    assert snippet.compare(run.loader, run.step, steps=3) == (3, 1)
    assert run.drawn == 7


def test_the_value_of_the_loss_is_asked_for(clock):
    """.item() is what waits for a GPU."""
    asked = []

    class Loss:
        def item(self):
            asked.append(1)
            clock(1)  # the GPU finishes

    _, cached = snippet.compare([0] * 41, lambda batch: Loss())
    assert len(asked) == 60
    assert cached == 1
