"""Draw the training and the validation loss of each epoch in one chart."""

import matplotlib.pyplot as plt
import torch
from torch import nn

torch.manual_seed(0)
x = torch.rand(220, 8)  # 20 samples to train on, 200 to validate
y = x[:, :1] + 0.5 * torch.randn(220, 1)
model = nn.Sequential(nn.Linear(8, 64), nn.Tanh(), nn.Linear(64, 1))
optimizer = torch.optim.Adam(model.parameters(), 0.01)
loss_fn, n_epochs = nn.MSELoss(), 150


def train_one_epoch():
    """Take one step, and return the loss before it."""
    loss = loss_fn(model(x[:20]), y[:20])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


@torch.no_grad()
def validate():
    """Return the loss on the samples that are not learnt."""
    return loss_fn(model(x[20:]), y[20:]).item()


train_losses, val_losses = [], []
for _ in range(n_epochs):
    train_losses.append(train_one_epoch())  # yours: its mean loss, a float
    val_losses.append(validate())  # yours: a float

epochs = range(1, len(train_losses) + 1)
fig, ax = plt.subplots(figsize=(4.8, 2.4), layout="constrained")
ax.plot(epochs, train_losses, label="training")
ax.plot(epochs, val_losses, label="validation")
ax.set(xlabel="epoch", ylabel="loss")
ax.legend()
fig.savefig("plot_losses.svg")

assert train_losses[-1] < min(val_losses) < val_losses[-1]
