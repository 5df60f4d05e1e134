"""Draw the ROC curve, the area below it, and one threshold on it."""

import matplotlib.pyplot as plt
import torch
from sklearn.metrics import roc_auc_score, roc_curve

torch.manual_seed(0)
target = torch.arange(200) % 2
score = torch.randn(200) + target

fpr, tpr, _ = roc_curve(target, score)
auc = roc_auc_score(target, score)
alarms, recall = ((score[target == k] > 0.5).float().mean() for k in (0, 1))

fig, ax = plt.subplots(figsize=(3.4, 3.1))
ax.plot(fpr, tpr)
ax.fill_between(fpr, tpr, alpha=0.2, linewidth=0)
ax.text(0.5, 0.15, f"AUC {auc:.2f}")
ax.plot([0, 1], [0, 1], "--", color="gray")
ax.text(0.58, 0.5, "chance")
ax.plot(alarms, recall, "o")
ax.text(alarms + 0.04, recall - 0.03, "score > 0.5")
ax.set(xlabel="false positive rate", ylabel="true positive rate (recall)")
fig.savefig("plot_roc.svg")
print(f"AUC {auc:.4f}; score > 0.5: recall {recall:.2f}")
