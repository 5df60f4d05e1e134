"""Train a classifier and evaluate it after every epoch."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split


def train(model, loader, loss_fn, optimizer, device):
    """Train for one epoch; return the mean loss over the samples."""
    model.train()  # dropout on, batch norm updates its statistics
    total = torch.zeros((), device=device)
    for x, y in loader:
        x, y = x.to(device, non_blocking=True), y.to(device, non_blocking=True)
        optimizer.zero_grad()
        logits = model(x)  # (B, C), no softmax: the loss applies it
        loss = loss_fn(logits, y)
        loss.backward()
        optimizer.step()
        total += loss.detach() * len(y)  # .item() would wait for the GPU
    return total.item() / len(loader.dataset)


@torch.no_grad()
def evaluate(model, loader, loss_fn, device):
    """Return the mean loss and the accuracy over the samples."""
    model.eval()  # dropout off, batch norm uses its running statistics
    total = torch.zeros(2, device=device)
    for x, y in loader:
        x, y = x.to(device, non_blocking=True), y.to(device, non_blocking=True)
        logits = model(x)
        total[0] += loss_fn(logits, y) * len(y)
        total[1] += (logits.argmax(1) == y).sum()
    return (total / len(loader.dataset)).tolist()


def main():
    """Learn which points lie outside a circle."""
    torch.manual_seed(0)
    gpu = torch.accelerator.current_accelerator(check_available=True)
    device = gpu or torch.device("cpu")
    x = torch.randn(600, 2)
    y = (x.norm(dim=1) > 1.2).long()
    train_set, val_set = random_split(TensorDataset(x, y), [500, 100])
    train_loader = DataLoader(train_set, 64, shuffle=True, num_workers=2)
    val_loader = DataLoader(val_set, 64, num_workers=2)

    model = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 2))
    model.to(device)
    loss_fn = nn.CrossEntropyLoss()
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.05)
    for epoch in range(5):
        loss = train(model, train_loader, loss_fn, optimizer, device)
        val_loss, accuracy = evaluate(model, val_loader, loss_fn, device)
        print(f"{epoch}: {loss:.2f}, validation {val_loss:.2f} {accuracy:.0%}")
    assert accuracy > 0.9


if __name__ == "__main__":
    main()
