"""Keep the checkpoint of the best epoch beside that of the last one."""

from pathlib import Path

import torch
from torch import nn


def save_checkpoint(checkpoint, path):
    """Write under another name, then rename: a kill leaves the old file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    torch.save(checkpoint, path.with_suffix(".tmp"))
    path.with_suffix(".tmp").replace(path)  # atomic


def train(scores, start_epoch=0, folder=Path("checkpoints")):
    """Keep the best epoch; the scores stand for training and validation."""
    model = nn.Linear(1, 1)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=4)
    generator = torch.Generator()  # the one of DataLoader(generator=generator)
    best, last = folder / "best.pt", folder / "last.pt"
    best_score = float("-inf")
    if best.exists():  # a run that resumes has to beat this file
        checkpoint = torch.load(best, map_location="cpu", weights_only=True)
        best_score = checkpoint["best_score"]

    for epoch, score in enumerate(scores, start_epoch):
        is_best = score > best_score  # False for NaN
        best_score = max(best_score, float(score))  # NumPy's would not load
        checkpoint = {
            "epoch": epoch,
            "best_score": best_score,
            "model_state_dict": model.state_dict(),
            "optimizer_state_dict": optimizer.state_dict(),
            "scheduler_state_dict": scheduler.state_dict(),
            "loader_rng_state": generator.get_state(),
            "torch_rng_state": torch.get_rng_state(),
            "cuda_rng_state": torch.cuda.get_rng_state_all(),
        }
        if is_best:  # first: a kill between the two repeats this epoch
            save_checkpoint(checkpoint, best)
        save_checkpoint(checkpoint, last)


if __name__ == "__main__":
    train([0.7, 0.9])
    train([0.8], start_epoch=2)  # after a restart: not better than 0.9
    for name in ["best.pt", "last.pt"]:
        checkpoint = torch.load(f"checkpoints/{name}", weights_only=True)
        print(name, "is from epoch", checkpoint["epoch"])
