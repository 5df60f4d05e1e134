"""Keep a copy of the best checkpoint while training goes on."""

import math
import shutil
from pathlib import Path

import torch
from torch import nn


def keep_best(last: Path, score: float, best: float) -> float:
    """Copy the checkpoint ``last`` to ``best.pt`` beside it if it is better.

    Args:
        last: the file just written; it stays as it is.
        score: of this checkpoint on validation data, higher is better: for a
            loss, pass -loss. A tie keeps the older file, NaN is never better.
        best: the score of ``best.pt``, or -inf if there is none yet.

    Returns:
        The best score so far, to be passed to the next call.

    Raises:
        FileNotFoundError: there is no ``last``; ``best.pt`` is untouched.
    """
    if not score > best:
        return best
    part = last.with_name("best.pt.part")
    shutil.copyfile(last, part)  # from, to
    part.replace(last.with_name("best.pt"))  # at once: a kill leaves no half
    return score


def score_of(path: Path) -> float:
    """Return the score in a checkpoint, -inf if the file does not exist."""
    if not path.exists():
        return -math.inf
    return torch.load(path, map_location="cpu", weights_only=True)["score"]


if __name__ == "__main__":
    folder = Path("run")
    folder.mkdir(exist_ok=True)
    last_file, best_file = folder / "last.pt", folder / "best.pt"
    model = nn.Linear(4, 2)
    best = score_of(best_file)  # a run that resumes must not start at -inf
    for epoch, score in enumerate([0.7, 0.9, 0.8]):
        nn.init.constant_(model.bias, epoch)  # stands for an epoch of training
        checkpoint = {"model": model.state_dict(), "score": score}
        torch.save(checkpoint, last_file)
        best = keep_best(last_file, score, best)

    assert score_of(last_file) == 0.8
    checkpoint = torch.load(best_file, map_location="cpu", weights_only=True)
    model.load_state_dict(checkpoint["model"])  # this one, not the last
    assert model.bias.tolist() == [1.0, 1.0]
    print("best score", best, "last score", score_of(last_file))
