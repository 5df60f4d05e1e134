"""data-vs-compute-bottleneck: seconds by a clock of its own, worked by hand."""

import time

import pytest
import torch

from tests.helpers import ROOT, load_snippet

SNIPPET = "performance/data_vs_compute_bottleneck.py"
SOURCE = (ROOT / "snippets" / SNIPPET).read_text("utf-8")
ANSWER = SOURCE[SOURCE.index("batches, seconds") : SOURCE.index("assert")]


class Run:
    """The lines of the answer, with a loader and a step that take set times."""

    def __init__(self, clock, wait, work, count=41):
        self.steps, self.clock, self.work = [], clock, work
        self.drawn = 0
        self.names = {"time": time, "loader": self.load(wait, count), "step": self.step}

    def load(self, wait, count):
        for number in range(count):
            self.clock(wait)
            self.drawn += 1
            yield number

    def step(self, batch):
        self.clock(self.work + (5 if len(self.steps) < 20 else 0))  # slow at first
        self.steps.append(batch)
        return torch.tensor(0.5)


@pytest.mark.parametrize(("wait", "work"), [(3, 1), (1, 3), (2, 2), (0, 4), (2.125, 2)])
def test_seconds_per_step(clock, wait, work):
    run = Run(clock, wait, work)
    exec(ANSWER, run.names)
    seconds = run.names["seconds"]
    assert seconds == {
        "warm-up": wait + work + 5,
        "loader": wait + work,
        "cached": work,
    }
    assert run.steps == [*range(1, 41), *[0] * 20]


def test_it_draws_41_batches(clock):
    run = Run(clock, 1, 1, count=100)
    exec(ANSWER, run.names)
    assert run.drawn == 41
    with pytest.raises(StopIteration):
        exec(ANSWER, Run(clock, 1, 1, count=40).names)


def test_the_value_of_the_loss_is_asked_for(clock):
    """.item() is what waits for a GPU."""
    asked = []

    class Loss:
        def item(self):
            asked.append(1)
            clock(1)  # the GPU finishes

    run = Run(clock, 0, 0)
    run.names["step"] = lambda batch: Loss()
    exec(ANSWER, run.names)
    assert len(asked) == 60
    assert run.names["seconds"]["cached"] == 1


def test_the_example_reads_slowly_and_learns(clock):
    found = load_snippet(SNIPPET)
    assert found.seconds == pytest.approx(
        {"warm-up": 0.02, "loader": 0.02, "cached": 0}
    )
    x, y = found.read([0, 1, 2])
    assert (x.shape, y.shape) == ((3, 64), (3,))
    assert y.min() >= 0
    assert y.max() < 10
    weight, bias = (p.detach().clone() for p in found.model.parameters())
    loss = found.step((x, y))
    scores = (x @ weight.T + bias).double()
    assert scores.shape == (3, 10)
    expected = (scores.exp().sum(1).log() - scores[range(3), y]).mean()
    assert loss.item() == pytest.approx(expected.item(), rel=1e-5)
    # one step of descent: softmax minus one-hot, over N
    error = scores.softmax(1)
    error[range(3), y] -= 1
    moved = bias - 0.1 * error.mean(0)
    torch.testing.assert_close(found.model.bias.detach(), moved.float())


def test_one_cached_batch_is_learnt():
    found = load_snippet(SNIPPET)
    batch = found.read(range(8))
    before = found.step(batch).item()
    for _ in range(50):
        after = found.step(batch).item()
    assert after < before
