"""Train, and validate after every epoch; test once, at the end."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
x = torch.randn(650, 2)
data = TensorDataset(x, (x.norm(dim=1) > 1.2).long())  # outside a circle?
train_set, val_set, test_set = random_split(data, [450, 100, 100])
train_loader = DataLoader(train_set, 64, shuffle=True)
val_loader, test_loader = DataLoader(val_set, 64), DataLoader(test_set, 64)
model = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 2)).to(device)
loss_fn = nn.CrossEntropyLoss()
optimizer = torch.optim.AdamW(model.parameters(), lr=0.02)


def train(model, loader, loss_fn, optimizer, device):
    """Train for one epoch; return the mean loss."""
    model.train()  # dropout on, batch norm updates its statistics
    total, seen = torch.zeros((), device=device), 0
    for x, y in loader:
        x, y = x.to(device), y.to(device)
        optimizer.zero_grad()
        loss = loss_fn(model(x), y)  # the mean over this batch
        loss.backward()
        optimizer.step()
        total += loss.detach() * y.numel()  # .item() would wait for the GPU
        seen += y.numel()
    return total.item() / seen


@torch.no_grad()
def evaluate(model, loader, loss_fn, device):
    """Return the mean loss and the accuracy."""
    model.eval()  # dropout off, batch norm uses its running statistics
    total, seen = torch.zeros(2, device=device), 0
    for x, y in loader:
        x, y = x.to(device), y.to(device)
        logits = model(x)  # (B, C); y: (B,), class numbers
        total[0] += loss_fn(logits, y) * y.numel()
        total[1] += (logits.argmax(1) == y).sum()
        seen += y.numel()
    return (total / seen).tolist()


for epoch in range(10):
    loss = train(model, train_loader, loss_fn, optimizer, device)
    val_loss, accuracy = evaluate(model, val_loader, loss_fn, device)
    print(f"{epoch}: {loss:.2f}, validation {val_loss:.2f} {accuracy:.0%}")

print(f"test {evaluate(model, test_loader, loss_fn, device)[1]:.0%}")
