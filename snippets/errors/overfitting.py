"""Measure both losses by the same code; weight decay narrows the gap."""

import torch
from torch import nn

torch.set_default_dtype(torch.float64)  # the same numbers on every machine
torch.manual_seed(0)
inputs = torch.rand(80, 8)  # (N, D); only the first column tells the target
targets = inputs[:, :1] + 0.5 * torch.randn(80, 1)  # (N, 1)
x_train, y_train = inputs[:20], targets[:20]
x_val, y_val = inputs[20:], targets[20:]
loss_fn = nn.MSELoss()


def train(weight_decay):
    """Return a network that has seen 20 samples 400 times."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(8, 64), nn.Tanh(), nn.Linear(64, 1))
    optimizer = torch.optim.AdamW(
        model.parameters(), 0.01, weight_decay=weight_decay
    )
    for _ in range(400):
        optimizer.zero_grad()
        loss_fn(model(x_train), y_train).backward()
        optimizer.step()
    return model


for weight_decay in (0, 2):
    model = train(weight_decay)
    model.eval()  # both without dropout, by the same code
    with torch.no_grad():
        train_loss = loss_fn(model(x_train), y_train)
        val_loss = loss_fn(model(x_val), y_val)
    print(f"train {train_loss:.2f}, validation {val_loss:.2f}")
