"""Show a progress bar with the loss, and draw its curve in TensorBoard."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.tensorboard import SummaryWriter
from tqdm import tqdm


def train(model, loader, loss_fn, optimizer, device, epochs):
    """Train; show and log the loss of the first batch and of each 100th."""
    writer, step = SummaryWriter(), 0  # a new folder in runs
    for epoch in range(epochs):
        model.train()
        bar = tqdm(loader, desc=f"epoch {epoch}")
        for batch, (x, y) in enumerate(bar):
            x, y = x.to(device), y.to(device)
            optimizer.zero_grad()
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()
            if batch % 100 == 0:  # at least once per epoch
                value = loss.item()  # waits for the GPU
                bar.set_postfix(loss=value)
                writer.add_scalar("loss/train", value, step)
            step += 1  # goes on in the next epoch
    writer.close()


def main():
    """Fit a line. Then, in a terminal: tensorboard --logdir runs."""
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    x = torch.randn(2000, 1)
    loader = DataLoader(TensorDataset(x, 3 * x + 1), 10, shuffle=True)
    model = nn.Linear(1, 1).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

    train(model, loader, nn.MSELoss(), optimizer, device, epochs=3)
    print(f"y = {model.weight.item():.2f} x + {model.bias.item():.2f}")


if __name__ == "__main__":
    main()
