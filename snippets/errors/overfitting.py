"""Measure both losses by the same code; weight decay narrows the gap."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.set_default_dtype(torch.float64)  # the same numbers on every machine
torch.manual_seed(0)
x = torch.rand(80, 8)  # (N, D); only the first column tells the target
y = x[:, :1] + 0.5 * torch.randn(80, 1)  # (N, 1)
train_loader = DataLoader(TensorDataset(x[:20], y[:20]), batch_size=20)
val_loader = DataLoader(TensorDataset(x[20:], y[20:]), batch_size=32)
loss_fn, device = nn.MSELoss(), "cpu"


def train(decay):
    """Return a network that has seen 20 samples 400 times."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(8, 64), nn.Tanh(), nn.Linear(64, 1))
    optimizer = torch.optim.AdamW(model.parameters(), 0.01, weight_decay=decay)
    for _ in range(400):
        optimizer.zero_grad()
        loss_fn(model(x[:20]), y[:20]).backward()
        optimizer.step()
    return model


@torch.no_grad()
def mean_loss(model, loader, loss_fn, device):
    """Return the mean over all samples, without dropout."""
    model.eval()  # before you train on: model.train()
    total, count = 0.0, 0
    for x, y in loader:
        x, y = x.to(device), y.to(device)
        total += loss_fn(model(x), y).item() * len(x)
        count += len(x)
    return total / count


for decay in (0, 2):
    model = train(decay)
    print(f"weight decay {decay}")
    for name, loader in ("train", train_loader), ("validation", val_loader):
        print(f"{name} {mean_loss(model, loader, loss_fn, device):.2f}")
