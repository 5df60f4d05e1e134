"""Running totals, moving averages and differences of a series."""

from itertools import accumulate

import torch
from torch.nn import functional as F

x = torch.tensor([2.0, 4.0, 9.0, 1.0, 5.0, 3.0])  # (T,)

k = 3  # the window
total = x.cumsum(dim=0)  # (T,): x[0] + ... + x[t]
mean = F.avg_pool1d(x[None], k, stride=1)[0]  # (T - k + 1,): whole windows
causal = F.avg_pool1d(F.pad(x[None], (k - 1, 0), mode="replicate"), k, 1)[0]
smooth = F.avg_pool1d(x[None], k, 1, k // 2, count_include_pad=False)[0]
ema = torch.stack(list(accumulate(x, lambda m, v: m + 0.5 * (v - m))))

peak = x.cummax(dim=0).values  # (T,): the largest so far
change = x.diff()  # (T - 1,): x[t] - x[t - 1]

torch.set_printoptions(precision=2)
print("total", total, "peak", peak, "change", change, sep="\n")
print("mean", mean, "causal", causal, "smooth", smooth, "ema", ema, sep="\n")
