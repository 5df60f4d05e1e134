"""Show a progress bar with the loss, and log it to TensorBoard."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.tensorboard import SummaryWriter
from tqdm import tqdm

LOG_EVERY = 10  # batches; 100 is often enough


def train(model, loader, loss_fn, optimizer, device, writer, epoch):
    """Train for one epoch; show and log the mean loss of every few batches."""
    model.train()
    total = torch.zeros((), device=device)
    bar = tqdm(loader, desc=f"epoch {epoch}")
    for i, (x, y) in enumerate(bar, 1):
        x, y = x.to(device), y.to(device)
        optimizer.zero_grad()
        loss = loss_fn(model(x), y)
        loss.backward()
        optimizer.step()
        total += loss.detach()  # .item() here would wait for the GPU
        if i % LOG_EVERY == 0:
            mean = total.item() / LOG_EVERY
            total.zero_()
            bar.set_postfix(loss=f"{mean:.3f}")
            step = epoch * len(loader) + i  # grows over all epochs
            writer.add_scalar("loss/train", mean, step)


def main():
    """Fit a line. Then, in a terminal: tensorboard --logdir runs."""
    torch.manual_seed(0)
    gpu = torch.accelerator.current_accelerator(check_available=True)
    device = gpu or torch.device("cpu")
    x = torch.randn(1000, 1)
    loader = DataLoader(TensorDataset(x, 3 * x + 1), 20, shuffle=True)
    model = nn.Linear(1, 1).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    loss_fn = nn.MSELoss()

    with SummaryWriter("runs/lr=0.05") as writer:  # one folder for each run
        for epoch in range(3):
            train(model, loader, loss_fn, optimizer, device, writer, epoch)
    print(f"y = {model.weight.item():.2f} x + {model.bias.item():.2f}")


if __name__ == "__main__":
    main()
