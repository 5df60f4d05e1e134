"""See a noisy series and its moving averages: causal ones come late."""

import matplotlib.pyplot as plt
import torch
from torch.nn import functional as F

torch.manual_seed(0)
x = (torch.arange(80) >= 40).float() + 0.2 * torch.randn(80)  # (T,)
k = 15

padded = F.pad(x[None], (k - 1, 0), mode="replicate")  # no future
causal = F.avg_pool1d(padded, k, stride=1)[0]
centred = F.avg_pool1d(x[None], k, 1, k // 2, count_include_pad=False)[0]

fig, ax = plt.subplots(figsize=(4.8, 2))
ax.plot(x, color="#8a8a8a", linewidth=0.8, label="x")
ax.plot(centred, label="centred")
ax.plot(causal, label="causal")
ax.set(xlabel="t", xticks=[0, 40, 80], yticks=[0, 1])
ax.legend(loc="upper left")
fig.savefig("show_moving_average.svg")
late = (causal > 0.5).nonzero()[0] - (centred > 0.5).nonzero()[0]
assert late == k // 2
