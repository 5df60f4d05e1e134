"""Draw precision against recall, and mark the threshold with the best F1."""

import matplotlib.pyplot as plt
import torch

torch.manual_seed(0)
positive = (torch.arange(300) < 60).long()  # (N,), 60 of 300
score = (torch.randn(300) + 2 * positive - 1).sigmoid()

threshold, order = score.sort(descending=True)  # called positive: score >= it
hits = positive[order].cumsum(0)
precision = hits / torch.arange(1, 301)
recall = hits / positive.sum()
f1 = 2 * precision * recall / (precision + recall).clamp(min=1e-12)
best = f1.argmax()

fig, ax = plt.subplots()
ax.plot(recall.numpy(), precision.numpy())
ax.plot(recall[best], precision[best], "o")
text = f"score ≥ {threshold[best]:.2f}: F1 {f1[best]:.2f}"
ax.annotate(text, (recall[best] + 0.03, precision[best]))
ax.set(xlabel="recall", ylabel="precision", ylim=(0, 1.05))
fig.savefig("plot_precision_recall.svg")
print(text)
