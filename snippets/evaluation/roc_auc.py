"""ROC-AUC and average precision over a whole data set."""

import torch
from sklearn.metrics import average_precision_score, roc_auc_score


def roc_auc(score, target):
    """Return the share of (positive, negative) pairs in the right order.

    score (N,), target (N,) of 0 and 1, on any device. A tie counts half;
    NaN if one class is missing. The Mann-Whitney U statistic over P * N.
    """
    positive = target.bool()
    _, group, size = score.unique(return_inverse=True, return_counts=True)
    twice = 2 * size.cumsum(0) - size + 1  # twice the mean rank of tied scores
    P, N = positive.sum(), (~positive).sum()
    U = twice[group][positive].sum() - P * (P + 1)
    return U / (2 * P * N)


if __name__ == "__main__":
    torch.manual_seed(0)
    target = torch.arange(200) % 2
    score = torch.randn(200) + target  # all batches, on the CPU
    auc = roc_auc_score(target, score)  # not the predicted classes
    ap = average_precision_score(target, score)
    print(f"AUC {auc:.4f}, average precision {ap:.4f}")
    print(f"AUC without scikit-learn {roc_auc(score, target):.4f}")
