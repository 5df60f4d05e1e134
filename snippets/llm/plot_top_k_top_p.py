"""Draw which tokens top-k and top-p keep, for a sure and an unsure model."""

import matplotlib.pyplot as plt
import torch

logits = torch.arange(8) * -torch.tensor([[2.0], [0.25]])  # (B, V), sorted
p = logits.softmax(-1)
kth = logits.topk(3).values[:, -1:]
kept = {"top_k=3": logits >= kth, "top_p=0.9": p.cumsum(-1) - p < 0.9}

fig, axes = plt.subplots(2, 2, sharex=True, sharey=True, figsize=(4.8, 2.6))
for column, (title, keep) in zip(axes.T, kept.items(), strict=True):
    for ax, share, keeps in zip(column, p, keep, strict=True):
        colors = ["#3b82d6" if keep else "#8a8a8a60" for keep in keeps]
        ax.bar(range(8), share.tolist(), color=colors)
        ax.text(7.4, 0.6, f"{keeps.sum()} kept", ha="right")
        ax.set(xticks=[], yticks=[0, 0.5, 1])
    column[0].set_title(title)
    column[1].set_xlabel("token")
axes[0, 0].set_ylabel("sure")
axes[1, 0].set_ylabel("unsure")
fig.savefig("plot_top_k_top_p.svg")
assert kept["top_p=0.9"].sum(-1).tolist() == [2, 7]
