"""Keep the checkpoint of the best epoch beside that of the last one."""

from pathlib import Path

import torch
from torch import nn

torch.manual_seed(0)
x, x_val = torch.randn(2, 20, 15)  # few samples: the model will overfit
y, y_val = (data[:, :1] + torch.randn(20, 1) for data in (x, x_val))
model = nn.Sequential(nn.Linear(15, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=20)
epochs = 40


def train_one_epoch():
    """Go once through the training data."""
    model.train()
    optimizer.zero_grad()
    nn.functional.mse_loss(model(x), y).backward()
    optimizer.step()


@torch.no_grad()
def evaluate():
    """Return the validation loss."""
    model.eval()
    return nn.functional.mse_loss(model(x_val), y_val).item()


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


folder = Path("checkpoints")  # one for each run
best, last = folder / "best.pt", folder / "last.pt"
start_epoch, best_loss = 0, float("inf")
for epoch in range(start_epoch, epochs):
    train_one_epoch()  # yours
    val_loss = evaluate()  # yours: returns the validation loss
    scheduler.step()
    if val_loss < best_loss:  # False for NaN
        best_loss = val_loss
        save_checkpoint(best, epoch, best_loss, model, optimizer, scheduler)
    save_checkpoint(last, epoch, best_loss, model, optimizer, scheduler)
checkpoint = torch.load(best, map_location="cpu", weights_only=True)
model.load_state_dict(checkpoint["model_state_dict"])
print(f"{val_loss:.2f} in epoch {epoch}; best {evaluate():.2f} before")
