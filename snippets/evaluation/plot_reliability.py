"""Draw how often a model is right, by how sure it is."""

import matplotlib.pyplot as plt
import torch

torch.manual_seed(0)
true = torch.randn(20000, 5)
y = torch.multinomial(true.softmax(1), 1).squeeze(1)
logits = 3 * true  # (N, C): a model that is far too sure

edges, gaps = torch.linspace(0, 1, 11), []
fig, axes = plt.subplots(1, 2, sharey=True, figsize=(4.8, 2.5))
for ax, T in zip(axes, [1, 3], strict=True):
    sure, pred = (logits / T).softmax(1).max(1)
    bins = torch.bucketize(sure, edges[1:-1])
    count = bins.bincount(minlength=10)
    rates = bins.bincount((pred == y).float(), minlength=10) / count
    ax.stairs(rates.nan_to_num(0), edges, fill=True, alpha=0.6)
    ax.plot([0, 1], [0, 1], "--", color="black")
    ax.set(title=f"T = {T}", xlabel="confidence", xticks=[0, 0.5, 1])
    gaps.append(((rates - edges[:-1] - 0.05) * count).nansum() / len(y))
axes[0].set(ylabel="share that is right", yticks=[0, 0.5, 1])
fig.savefig("plot_reliability.svg")
assert gaps[0] < -0.1 < gaps[1] < 0.1
