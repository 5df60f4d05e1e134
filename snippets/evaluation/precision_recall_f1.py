"""Compute precision, recall and F1, per class or averaged, in one pass."""

import torch


def precision_recall_f1(
    matrix: torch.Tensor, average: str = "none", zero_division: float = 0.0
) -> torch.Tensor:
    """Return precision, recall and F1 from the counts of all batches.

    Args:
        matrix: (C, C) confusion matrix of counts; rows are the true class,
            columns the predicted one.
        average: "none"; "macro", where each class counts the same;
            "weighted", by its number of samples; "micro", which pools them.
        zero_division: stands for 0 / 0, the precision of a class that was
            never predicted or the recall of one that never occurs. With nan,
            the averages leave it out.

    Returns:
        (3, C) float with average="none", otherwise (3,).

    Raises:
        KeyError: there is no such average.

    Source: sklearn.metrics.precision_recall_fscore_support, same results
    """
    hits = matrix.diag()  # (C,)
    called, truly = matrix.sum(0), matrix.sum(1)  # of a column, of a row
    if average == "micro":  # all classes as one
        hits, called, truly = hits.sum(), called.sum(), truly.sum()
    parts = hits / called, hits / truly, 2 * hits / (called + truly)
    scores = torch.stack(parts).nan_to_num(zero_division)  # (3, C)
    if average in ("none", "micro"):
        return scores
    ones = torch.ones_like(truly)
    weight = {"macro": ones, "weighted": truly}[average] * ~scores.isnan()
    return (scores.nan_to_num() * weight).sum(1) / weight.sum(1)


if __name__ == "__main__":
    # 4 cats, of which 3 are found; 2 dogs, found; no bird was called one.
    matrix = torch.tensor([[3, 1, 0], [0, 2, 0], [0, 1, 0]])
    precision, recall, f1 = precision_recall_f1(matrix)
    assert precision.tolist() == [1.0, 0.5, 0.0]  # of those called a dog, 2/4
    assert recall.tolist() == [0.75, 1.0, 0.0]  # of the true cats, 3/4
    for average in ("macro", "weighted", "micro"):
        scores = precision_recall_f1(matrix, average).tolist()
        print(average, [round(score, 3) for score in scores])
