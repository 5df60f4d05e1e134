"""ROC-AUC and average precision over a whole data set."""

import torch
from sklearn.metrics import average_precision_score, roc_auc_score

torch.manual_seed(0)
target = torch.arange(200) % 2  # (N,) of 0 and 1, all batches
score = torch.randn(200) + target  # (N,): a logit or class 1's probability

truth, score = target.cpu(), score.float().cpu()
auc = roc_auc_score(truth, score)  # scores, not predicted classes
ap = average_precision_score(truth, score)
print(f"AUC {auc:.4f}, average precision {ap:.4f}")
print(f"AUC of the predicted classes {roc_auc_score(truth, score > 0.5):.4f}")
