"""Running totals, moving averages and differences of a series."""

import torch
from torch.nn import functional as F

x = torch.tensor([2.0, 4.0, 9.0, 1.0, 5.0, 3.0])  # (T,)
k = 3  # yours: the number of values to average

total = x.cumsum(dim=-1)  # (T,): x[0] + ... + x[t]
padded = F.pad(x[None].float(), (k - 1, 0), mode="replicate")  # no future
causal = F.avg_pool1d(padded, k, stride=1)[0]  # (T,): x[t], k - 1 before it

mean = F.avg_pool1d(x[None], k, stride=1)[0]  # (T - k + 1,): whole windows
smooth = F.avg_pool1d(x[None], k, 1, k // 2, count_include_pad=False)[0]
ema = [x[0]]
for value in x[1:]:
    ema.append(0.5 * value + 0.5 * ema[-1])
peak = x.cummax(dim=0).values  # (T,): the largest so far
change = x.diff()  # (T - 1,): x[t] - x[t - 1]

torch.set_printoptions(precision=2)
print("total", total, "peak", peak, "change", change, sep="\n")
print("causal", causal, "mean", mean, "smooth", smooth, sep="\n")
print("ema", torch.stack(ema), sep="\n")
