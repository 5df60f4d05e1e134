"""Train and validate a classifier, reading losses back once per epoch."""

import torch
from torch import nn
from torch.optim import AdamW, Optimizer
from torch.utils.data import DataLoader, TensorDataset, random_split


def run_epoch(
    model: nn.Module, loader: DataLoader, optimizer: Optimizer | None = None
) -> torch.Tensor:
    """Train on each batch once or, without an optimizer, only validate.

    Args:
        model: returns logits (B, C).
        loader: batches of x (B, ...) and y (B,) int64 classes, B may vary.

    Returns:
        (2,) mean loss and accuracy of the samples, on the model's device.

    Source: https://docs.pytorch.org/tutorials/beginner/introyt/trainingyt.html
    """
    training = optimizer is not None
    model.train(training)  # switches dropout and batch norm
    device = next(model.parameters()).device
    total, count = torch.zeros(2, device=device), 0
    with torch.set_grad_enabled(training):
        for batch in loader:
            x, y = (part.to(device, non_blocking=True) for part in batch)
            logits = model(x)  # (B, C), no softmax: the loss applies it
            loss = nn.functional.cross_entropy(logits, y)
            if training:
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            total[0] += loss.detach() * len(y)  # .item() would wait here
            total[1] += (logits.argmax(1) == y).sum()
            count += len(y)
    return total / count


if __name__ == "__main__":
    torch.manual_seed(0)
    device = torch.accelerator.current_accelerator(check_available=True)
    device = device or torch.device("cpu")
    x = torch.randn(600, 2)
    y = (x.norm(dim=1) > 1.2).long()  # outside a circle
    train_set, val_set = random_split(TensorDataset(x, y), [500, 100])
    pin = device.type == "cuda"  # lets the copies run on their own
    train_loader = DataLoader(train_set, 64, shuffle=True, pin_memory=pin)
    val_loader = DataLoader(val_set, 64, pin_memory=pin)
    model = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 2))
    optimizer = AdamW(model.to(device).parameters(), lr=0.05)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=5)
    for epoch in range(5):
        loss, _ = run_epoch(model, train_loader, optimizer).tolist()
        val_loss, accuracy = run_epoch(model, val_loader).tolist()
        schedule.step()
        print(f"{epoch}: {loss:.2f}, validation {val_loss:.2f} {accuracy:.0%}")
    assert accuracy > 0.9
