"""Draw a confusion matrix: counts in the cells, shares as colours."""

import matplotlib.pyplot as plt
import torch

names = ["cat", "dog", "bird"]
cm = torch.tensor([[38, 11, 1], [7, 42, 1], [2, 3, 45]])  # rows: true

share = cm / cm.sum(1, keepdim=True)  # of each true class
fig, ax = plt.subplots(figsize=(3.4, 2.9))
ax.imshow(share.numpy(), cmap="Blues", vmin=0, vmax=1)
for i, row in enumerate(cm.tolist()):
    for j, count in enumerate(row):
        color = "white" if share[i, j] > 0.5 else "midnightblue"
        ax.text(j, i, count, color=color, ha="center", va="center")
ax.set_xticks(range(3), names)
ax.set_yticks(range(3), names)
ax.set_xlabel("predicted")
ax.set_ylabel("true")
fig.savefig("plot_confusion_matrix.svg")
print("recall", share.diag())
