"""Train and evaluate on a CPU, a GPU or several with the same loop."""

import torch
from accelerate import Accelerator
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def main(epochs=5):
    """Learn which points lie outside a circle."""
    torch.manual_seed(0)
    x = torch.randn(1010, 2)
    data = TensorDataset(x, (x.norm(dim=1) > 1.2).long())
    train_set, val_set = torch.utils.data.random_split(data, [800, 210])
    model = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 2))
    loss_fn = nn.CrossEntropyLoss()
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.02)
    loader = DataLoader(train_set, batch_size=32, shuffle=True)
    val_loader = DataLoader(val_set, batch_size=32)

    accelerator = Accelerator()  # finds the device and the other processes
    model, optimizer, loader, val_loader = accelerator.prepare(
        model, optimizer, loader, val_loader
    )
    for epoch in range(epochs):
        model.train()
        for x, y in loader:  # its own batches, on its device
            optimizer.zero_grad()
            accelerator.backward(loss_fn(model(x), y))
            optimizer.step()
        model.eval()
        right = 0
        for x, y in val_loader:
            with torch.no_grad():
                found = model(x).argmax(1)
            found, y = accelerator.gather_for_metrics((found, y))  # of all
            right += (found == y).sum().item()
        accelerator.print(f"epoch {epoch}: {right / len(val_set):.1%} right")
    accelerator.save(accelerator.unwrap_model(model).state_dict(), "model.pt")
    accelerator.end_training()


if __name__ == "__main__":
    main()
