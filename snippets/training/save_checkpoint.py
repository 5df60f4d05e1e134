"""Save a training checkpoint that a kill can not spoil; keep the best one."""

import os
from pathlib import Path
from typing import Any

import torch
from torch import nn


def write_whole(checkpoint: dict, path: Path) -> None:
    """Replace the file by a complete new one, or leave it as it was."""
    part = path.with_name(f"{path.name}.part")  # same disk: rename is atomic
    with part.open("wb") as file:
        torch.save(checkpoint, file)
        file.flush()
        os.fsync(file.fileno())  # on disk before the name points to it
    part.replace(path)


def save_checkpoint(
    folder: Path, epoch: int, accuracy: float, best: float, **parts: Any
) -> float:
    """Write ``last.pt``; ``best.pt`` as well if accuracy exceeds best.

    Args:
        folder: created if need be.
        epoch: the one just finished.
        parts: model=, optimizer=, scheduler=: anything with a state_dict().

    Returns:
        The best accuracy so far, to be passed to the next call.

    Source: https://docs.pytorch.org/docs/stable/notes/serialization.html
    """
    is_best = accuracy > best
    best = float(accuracy if is_best else best)  # a NumPy scalar won't load
    checkpoint = {name: part.state_dict() for name, part in parts.items()}
    checkpoint |= {"epoch": epoch, "best": best}
    rng = torch.get_rng_state(), torch.cuda.get_rng_state_all()
    checkpoint["rng"] = rng  # the second is [] without a GPU
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("last.pt", "best.pt") if is_best else ("last.pt",):
        write_whole(checkpoint, folder / name)
    return best


if __name__ == "__main__":
    model, best = nn.Linear(4, 2), 0.0
    optimizer = torch.optim.AdamW(model.parameters())
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=3)
    parts = {"model": model, "optimizer": optimizer, "scheduler": scheduler}
    for epoch, accuracy in enumerate([0.7, 0.9, 0.8]):
        # ... train and evaluate one epoch ...
        best = save_checkpoint(Path("run"), epoch, accuracy, best, **parts)

    for name, expected in {"last.pt": 2, "best.pt": 1}.items():
        checkpoint = torch.load(f"run/{name}", weights_only=True)
        assert checkpoint["epoch"] == expected
        print(name, "is from epoch", checkpoint["epoch"])
