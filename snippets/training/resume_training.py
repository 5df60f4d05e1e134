"""Resume an interrupted run after the last epoch that it finished."""

from pathlib import Path

import torch
from torch import nn


def save_checkpoint(path, epoch, best_loss, model, optimizer, scheduler):
    """Write to `path`; a kill at any moment leaves the old file."""
    checkpoint = {
        "epoch": epoch,
        "best_loss": float(best_loss),  # a NumPy number would not load
        "model_state_dict": model.state_dict(),
        "optimizer_state_dict": optimizer.state_dict(),
        "scheduler_state_dict": scheduler.state_dict(),
    }
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    torch.save(checkpoint, path.with_suffix(".tmp"))
    path.with_suffix(".tmp").replace(path)  # atomic


def train_one_epoch():
    """Go once through the training data."""
    model.train()
    optimizer.zero_grad()
    nn.functional.mse_loss(model(x), 3 * x).backward()
    optimizer.step()


x = torch.linspace(-1, 1, 64).unsqueeze(1)
for epochs in (2, 4):  # the script stops after two epochs; it starts again
    model = nn.Linear(1, 1)  # .to(device) before the optimizer is built
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=4)

    last = Path("checkpoints/last.pt")  # one folder for each run
    start_epoch, best_loss = 0, float("inf")
    if last.exists():
        checkpoint = torch.load(last, map_location="cpu", weights_only=True)
        model.load_state_dict(checkpoint["model_state_dict"])
        optimizer.load_state_dict(checkpoint["optimizer_state_dict"])
        scheduler.load_state_dict(checkpoint["scheduler_state_dict"])
        best_loss = checkpoint["best_loss"]  # best.pt has to be beaten
        start_epoch = checkpoint["epoch"] + 1  # that epoch is finished
    print(f"{start_epoch} of {epochs} epochs are done")
    for epoch in range(start_epoch, epochs):
        train_one_epoch()  # yours
        scheduler.step()
        save_checkpoint(last, epoch, best_loss, model, optimizer, scheduler)
