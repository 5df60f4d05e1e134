"""How much faster the confusion matrix's tensor code is than the obvious loop.

Both get the same data, take turns in one process, and must agree; a ratio is that of
the medians. A loop uses one core, so the tensor code gets no more.
"""

import runpy
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median

import torch

from benchmarks.table import Measure, say, show

SNIPPET = Path(__file__).parents[1] / "snippets/evaluation/confusion_matrix.py"
ROUNDS = 9
AT_LEAST = 0.02  # seconds: shorter work is repeated within a round
N, C = 100_000, 10  # samples, classes


def measures() -> Iterator[Measure]:
    """Yield the ratio of loop to tensors for each pair; they must agree."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    for name, target, loop, tensors in confusion_matrices():
        say(f"{name}: {ROUNDS} rounds of each")
        torch.testing.assert_close(loop(), tensors())
        yield Measure(f"{name} / tensors", ratio(loop, tensors), "x", target)
    torch.set_num_threads(threads)


def ratio(one: Callable, other: Callable) -> float:
    """Time both by turns; median time of the one over that of the other."""
    turns = [(run, repeats(run), []) for run in (one, other)]
    for _ in range(ROUNDS):
        for run, number, seconds in turns:
            seconds.append(timed(run, number))
    slow, fast = (median(seconds) for _, _, seconds in turns)
    return slow / fast


def timed(run: Callable, number: int) -> float:
    """Seconds per call."""
    started = time.perf_counter()
    for _ in range(number):
        run()
    return (time.perf_counter() - started) / number


def repeats(run: Callable) -> int:
    """How many calls take AT_LEAST; this also warms up."""
    run()
    return max(1, round(AT_LEAST / timed(run, 1)))


def labels() -> tuple[torch.Tensor, torch.Tensor]:
    """True and predicted classes, (N,) each; half of the predictions are right."""
    generator = torch.Generator().manual_seed(0)
    target, other = torch.randint(C, (2, N), generator=generator)
    right = torch.rand(N, generator=generator) < 0.5
    return target, torch.where(right, target, other)


def confusion_matrices() -> Iterator[tuple]:
    target, pred = labels()
    confusion_matrix = runpy.run_path(str(SNIPPET))["confusion_matrix"]

    def over_numbers():
        matrix = [[0] * C for _ in range(C)]
        for t, p in zip(target.tolist(), pred.tolist(), strict=True):
            matrix[t][p] += 1
        return torch.tensor(matrix)

    def over_tensors():
        matrix = torch.zeros(C, C, dtype=torch.int64)
        for t, p in zip(few[0], few[1], strict=True):
            matrix[t, p] += 1
        return matrix

    few = target[: N // 50], pred[: N // 50]
    name = "confusion matrix, {} samples: loop over {}"
    yield (
        name.format(N, "numbers"),
        ">= 1",
        over_numbers,
        lambda: confusion_matrix(pred, target, C),
    )
    yield (
        name.format(N // 50, "tensors"),
        ">= 2",
        over_tensors,
        lambda: confusion_matrix(few[1], few[0], C),
    )


def main() -> int:
    """Show the ratios; 0 where every target is met."""
    return show(measures())


if __name__ == "__main__":
    sys.exit(main())
