"""ROC-AUC without scikit-learn, on the device of the scores."""

import torch


def roc_auc(score, target):
    """Return the share of (positive, negative) pairs in the right order.

    score (N,), target (N,) of 0 and 1. A tie counts half; NaN if one class is
    missing. The Mann-Whitney U statistic, divided by the number of pairs.
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
    print(f"AUC {roc_auc(torch.randn(200) + target, target):.4f}")
