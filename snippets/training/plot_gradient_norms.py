"""Plot the gradient norm of each step, before and after clipping."""

import matplotlib.pyplot as plt
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(8, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
norms, max_norm = [], 5.0
for step in range(40):
    x, y = torch.randn(16, 8), torch.randn(16, 1)
    y[0] += 300 * (step in (6, 20))  # two broken labels
    optimizer.zero_grad()
    nn.functional.mse_loss(model(x), y).backward()
    norm = nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    norms.append(norm.item())
    optimizer.step()
fig, ax = plt.subplots()
ax.semilogy(norms, label="before clipping")
ax.semilogy([min(n, max_norm) for n in norms], label="after")
ax.set(xlabel="step", ylabel="gradient norm")
ax.legend(loc="upper right")
fig.savefig("plot_gradient_norms.svg")
print("clipped:", [i for i, n in enumerate(norms) if n > max_norm])
