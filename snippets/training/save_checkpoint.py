"""Save all that training needs to resume, in a file no kill can spoil."""

from pathlib import Path

import torch


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


if __name__ == "__main__":
    model = torch.nn.Linear(1, 1)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=10)
    best_loss = 0.5  # yours: the lowest validation loss so far

    last = "checkpoints/last.pt"
    for epoch in range(3):  # yours: at the end of each epoch
        save_checkpoint(last, epoch, best_loss, model, optimizer, scheduler)

    checkpoint = torch.load(last, map_location="cpu", weights_only=True)
    print(*checkpoint, sep="\n")
    print("last finished epoch:", checkpoint["epoch"])
