"""Train, validate after every epoch, keep the best weights, test once."""

from pathlib import Path

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split


def train(model, loader, loss_fn, optimizer, device):
    """Train for one epoch; return the mean loss over the samples."""
    model.train()
    total, seen = torch.zeros((), device=device), 0
    for x, y in loader:
        x, y = x.to(device), y.to(device)
        optimizer.zero_grad()
        loss = loss_fn(model(x), y)  # the mean over this batch
        loss.backward()
        optimizer.step()
        total += loss.detach() * len(y)  # the last batch may be smaller
        seen += len(y)
    return total.item() / seen


@torch.no_grad()
def evaluate(model, loader, loss_fn, device):
    """Return the mean loss and the accuracy over the samples."""
    model.eval()
    total, seen = torch.zeros(2, device=device), 0
    for x, y in loader:
        x, y = x.to(device), y.to(device)
        logits = model(x)  # (B, C)
        total[0] += loss_fn(logits, y) * len(y)
        total[1] += (logits.argmax(1) == y).sum()
        seen += len(y)
    return (total / seen).tolist()


torch.manual_seed(0)
gpu = torch.accelerator.current_accelerator(check_available=True)
device = gpu or torch.device("cpu")
x = torch.randn(650, 2)
data = TensorDataset(x, (x.norm(dim=1) > 1.2).long())  # outside a circle?
train_set, val_set, test_set = random_split(data, [450, 100, 100])
train_loader = DataLoader(train_set, 64, shuffle=True)
val_loader, test_loader = DataLoader(val_set, 64), DataLoader(test_set, 64)
model = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 2)).to(device)
loss_fn, best_loss = nn.CrossEntropyLoss(), float("inf")
optimizer = torch.optim.AdamW(model.parameters(), lr=0.05)
best = Path("checkpoints/best.pt")
best.parent.mkdir(exist_ok=True)
for epoch in range(6):
    loss = train(model, train_loader, loss_fn, optimizer, device)
    val_loss, accuracy = evaluate(model, val_loader, loss_fn, device)
    print(f"{epoch}: {loss:.2f}, validation {val_loss:.2f} {accuracy:.0%}")
    if val_loss < best_loss:
        best_loss, state = val_loss, model.state_dict()
        torch.save({"best_score": -best_loss, "model_state_dict": state}, best)
model.load_state_dict(torch.load(best, weights_only=True)["model_state_dict"])
print(f"test {evaluate(model, test_loader, loss_fn, device)[1]:.0%}")
