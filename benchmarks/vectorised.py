"""How much faster the snippets' tensor code is than the obvious loop.

The tensor code is a snippet's function, or lines of it. Both get the same data, take
turns in one process, and must agree; a ratio is that of the medians. A loop uses one
core, so the tensor code gets no more.
"""

import runpy
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import WeightedRandomSampler

from benchmarks.table import Measure, say, show

SNIPPETS = Path(__file__).parents[1] / "snippets"
ROUNDS = 9
AT_LEAST = 0.02  # seconds: shorter work is repeated within a round
N, C = 100_000, 10


def measures() -> Iterator[Measure]:
    """Yield the ratio of loop to tensors for each pair; they must agree."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    for name, target, loop, tensors in (
        *confusion_matrices(),
        *class_scores(),
        *sample_weights(),
        *non_zeros(),
        *one_hots(),
        *evaluations(),
    ):
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
    """Seconds per call, until the device has finished."""
    started = time.perf_counter()
    for _ in range(number):
        run()
    if torch.accelerator.is_available():
        torch.accelerator.synchronize()
    return (time.perf_counter() - started) / number


def repeats(run: Callable) -> int:
    """How many calls take AT_LEAST; this also warms up."""
    run()
    return max(1, round(AT_LEAST / timed(run, 1)))


def snippet(path: str, name: str) -> Callable:
    """Return a function of a snippet."""
    return runpy.run_path(str(SNIPPETS / path))[name]


def lines(path: str, first: str, last: str) -> Callable:
    """Return a function of a snippet's lines, by how the first and last begin.

    It takes the variables that they need, and returns all that there are afterwards.
    """
    text = (SNIPPETS / path).read_text("utf-8").splitlines()
    begin, end = (
        next(n for n, line in enumerate(text) if line.lstrip().startswith(start))
        for start in (first, last)
    )
    code = compile("\n".join(text[begin : end + 1]), path, "exec")

    modules = {"torch": torch, "WeightedRandomSampler": WeightedRandomSampler}

    def run(**variables: object) -> dict:
        names = modules | variables
        exec(code, names)
        return names

    return run


def labels() -> tuple[torch.Tensor, torch.Tensor]:
    """True and predicted classes, (N,) each; half of the predictions are right."""
    generator = torch.Generator().manual_seed(0)
    target, other = torch.randint(C, (2, N), generator=generator)
    right = torch.rand(N, generator=generator) < 0.5
    return target, torch.where(right, target, other)


def confusion_matrices() -> Iterator[tuple]:
    target, pred = labels()
    confusion_matrix = snippet("evaluation/confusion_matrix.py", "confusion_matrix")

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


def class_scores() -> Iterator[tuple]:
    run = lines("evaluation/precision_recall_f1.py", "hits, called", "f1 =")
    generator = torch.Generator().manual_seed(0)
    for classes in (10, 100):
        matrix = torch.randint(1, 50, (classes, classes), generator=generator)

        def loop(matrix=matrix):
            found = []
            for c in range(len(matrix)):
                hits = matrix[c, c].item()
                called, truly = matrix[:, c].sum().item(), matrix[c].sum().item()
                precision = hits / called if called else 0.0
                recall = hits / truly if truly else 0.0
                f1 = 2 * hits / (called + truly) if called + truly else 0.0
                found.append([precision, recall, f1])
            return torch.tensor(found).T

        def scores(matrix=matrix):
            found = run(cm=matrix)
            return torch.stack([found["precision"], found["recall"], found["f1"]])

        name = f"precision, recall, F1 of {classes} classes: loop"
        yield name, ">= 2", loop, scores


def sample_weights() -> Iterator[tuple]:
    run = lines("data/imbalanced_sampler.py", "count =", "sampler =")
    target, _ = labels()

    def loop():
        numbers, count = target.tolist(), [0] * C
        for t in numbers:
            count[t] += 1
        weight = [1 / count[t] for t in numbers]
        return WeightedRandomSampler(weight, N).weights.float()

    name = f"weights of {N} samples: loop over numbers"
    yield name, ">= 2", loop, lambda: run(target=target)["sampler"].weights.float()


def non_zeros() -> Iterator[tuple]:
    x = (torch.arange(1_000_000) % 2).float()
    yield (
        "count of 500000 non-zeros: nonzero().size(0)",
        "",
        lambda: torch.tensor(x.nonzero().size(0)),
        lambda: torch.count_nonzero(x),
    )


def one_hots() -> Iterator[tuple]:
    target, _ = labels()
    few = target[: N // 50]

    def loop():
        out = torch.zeros(len(few), C)
        for i, t in enumerate(few.tolist()):
            out[i, t] = 1
        return out

    def scatter():
        return torch.zeros(N, C).scatter_(1, target.unsqueeze(1), 1)

    name = f"one-hot of {len(few)} labels: loop"
    yield name, ">= 2", loop, lambda: F.one_hot(few, C).float()
    name = f"one-hot of {N} labels: scatter_"
    yield name, "", scatter, lambda: F.one_hot(target, C).float()


def evaluations() -> Iterator[tuple]:
    accelerator = torch.accelerator.current_accelerator(check_available=True)
    device = accelerator or torch.device("cpu")
    torch.manual_seed(0)
    model = nn.Linear(64, C).to(device)
    x, (target, _) = torch.randn(N // 5, 64), labels()
    batches = list(zip(x.split(64), target[: len(x)].split(64), strict=True))
    path = "evaluation/classification_accuracy.py"
    run = lines(path, "model.eval()", "total +=")
    predict = snippet("evaluation/eval_loop_collect_predictions.py", "predict")

    @torch.inference_mode()
    def item_per_batch():
        model.eval()
        top1 = top5 = 0
        for x, y in batches:
            logits, y = model(x.to(device)), y.to(device)
            top1 += (logits.argmax(1) == y).sum().item()
            top5 += (logits.topk(5).indices == y[:, None]).sum().item()
        return torch.tensor([top1, top5]) / (N // 5)

    def once():
        found = run(model=model, loader=batches, device=device)
        counts = torch.stack([found["top1"], found["top5"]]).cpu()
        return counts / found["total"]

    @torch.inference_mode()
    def tolist_per_batch():
        model.eval()
        logits, targets = [], []
        for x, y in batches:
            logits += model(x.to(device)).tolist()
            targets += y.tolist()
        return torch.tensor(logits), torch.tensor(targets)

    many = f"over {len(batches)} batches on {device.type}"
    yield f"accuracy {many}: .item() per batch", "", item_per_batch, once
    name = f"predictions {many}: .tolist() per batch"
    yield name, "", tolist_per_batch, lambda: predict(model, batches, device)


def main() -> int:
    """Show the ratios; 0 where every target is met."""
    return show(measures())


if __name__ == "__main__":
    sys.exit(main())
