"""Draw both losses of a model that learns its 20 samples by heart."""

import matplotlib.pyplot as plt
import torch
from torch import nn

torch.manual_seed(0)
x = torch.rand(220, 8)
y = x[:, :1] + 0.5 * torch.randn(220, 1)
model = nn.Sequential(nn.Linear(8, 64), nn.Tanh(), nn.Linear(64, 1))
optimizer, losses = torch.optim.Adam(model.parameters(), 0.01), []
for _ in range(150):
    train, val = (model(x) - y).square().split([20, 200])
    losses.append([train.mean().item(), val.mean().item()])
    optimizer.zero_grad()
    train.mean().backward()
    optimizer.step()
best = torch.tensor(losses)[:, 1].argmin().item()
fig, ax = plt.subplots(figsize=(4.8, 2.4))
ax.plot(losses, label=["training", "validation"])
ax.axvline(best, linestyle="--", color="black", linewidth=0.8)
ax.set(ylim=(0, 0.8), xlabel="epoch", ylabel="loss", xticks=[best, 50, 150])
ax.legend()
fig.savefig("plot_overfitting.svg")
assert losses[-1][0] < losses[best][0] < losses[-1][1]
