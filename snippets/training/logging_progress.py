"""Show a progress bar with the loss, and draw its curve in TensorBoard."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.tensorboard import SummaryWriter
from tqdm import tqdm

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
x = torch.randn(2000, 1)
loader = DataLoader(TensorDataset(x, 3 * x + 1), 10, shuffle=True)
model = nn.Linear(1, 1).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)


def train_step(x, y):
    """Train on one batch; return its loss."""
    model.train()
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x.to(device)), y.to(device))
    loss.backward()
    optimizer.step()
    return loss


writer, step = SummaryWriter(), 0  # a new folder in runs
for epoch in range(3):
    bar = tqdm(loader, desc=f"epoch {epoch}")
    for batch, (x, y) in enumerate(bar):
        loss = train_step(x, y)  # yours
        if batch % 100 == 0:  # at least once per epoch
            value = loss.item()  # waits for the GPU
            bar.set_postfix(loss=value)
            writer.add_scalar("loss/train", value, step)
        step += 1  # goes on in the next epoch
writer.close()

# Then, in a terminal: tensorboard --logdir runs
print(f"y = {model.weight.item():.2f} x + {model.bias.item():.2f}")
