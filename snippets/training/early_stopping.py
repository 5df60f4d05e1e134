"""Stop when the validation loss no longer falls; keep the best weights."""

import copy

import torch
from torch import nn

torch.manual_seed(0)
x, x_val = torch.randn(2, 20, 15)  # few samples: the model will overfit
y, y_val = (data[:, :1] + torch.randn(20, 1) for data in (x, x_val))
model = nn.Sequential(nn.Linear(15, 32), nn.ReLU(), nn.Linear(32, 1))
loss_fn = nn.MSELoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)


def train_one_epoch():
    """Go once through the training data."""
    model.train()
    optimizer.zero_grad()
    loss_fn(model(x), y).backward()
    optimizer.step()


@torch.no_grad()
def evaluate():
    """Return the validation loss."""
    model.eval()
    return loss_fn(model(x_val), y_val).item()


patience, min_delta = 10, 1e-3
best_loss, best_epoch = float("inf"), 0
for epoch in range(500):  # at most
    train_one_epoch()  # yours: once over the training data
    val_loss = evaluate()  # yours: returns the validation loss
    if val_loss < best_loss - min_delta:  # False for NaN
        best_loss, best_epoch = val_loss, epoch
        best = copy.deepcopy(model.state_dict())
    elif epoch - best_epoch >= patience:
        break
model.load_state_dict(best)

print(f"validation loss {val_loss:.2f} in epoch {epoch}, where it stopped")
print(
    f"validation loss {evaluate():.2f} with the weights of epoch {best_epoch}"
)
