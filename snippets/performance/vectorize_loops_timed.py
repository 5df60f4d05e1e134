"""Measure how much faster one call is than a loop over a tensor."""

import torch
from torch.utils.benchmark import Timer

torch.manual_seed(0)
rows = torch.randn(5000, 8)
data = {"x": rows, "y": torch.randint(10, (5000,)), "sums": torch.zeros(10, 8)}
data |= {"v": rows[:, 0].clone(), "a": rows[:50], "b": rows[50:150]}
loops = {
    "[s if s > 0 else 0.1 * s for s in v]": "torch.where(v > 0, v, 0.1 * v)",
    "[(p - q).norm() for p in a for q in b]": "(a[:, None] - b).norm(dim=2)",
    "for r, c in zip(x, y): sums[c] += r": "sums.index_add_(0, y, x)",
}
for loop, call in loops.items():
    slow, fast = (
        Timer(code, globals=data).blocked_autorange(min_run_time=0.1).median
        for code in (loop, call)  # on one CPU thread
    )
    print(f"{call}: over 20 times faster, {slow > 20 * fast}")
