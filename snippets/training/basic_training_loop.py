"""Train a classifier: forward, loss, backward, update, batch by batch."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
x = torch.randn(600, 2)
y = (x.norm(dim=1) > 1.2).long()  # which points lie outside a circle?
loader = DataLoader(TensorDataset(x, y), 64, shuffle=True)
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


for epoch in range(10):
    loss = train(model, loader, loss_fn, optimizer, device)
    print(f"epoch {epoch}: loss {loss:.3f}")

x_test = torch.tensor([[0.0, 0.0], [2.0, 0.0]], device=device)
print("inside, outside:", model.eval()(x_test).argmax(1).tolist())
