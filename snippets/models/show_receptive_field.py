"""See which steps of each layer the last step of the output depends on."""

import matplotlib.pyplot as plt
import torch
from matplotlib.colors import ListedColormap
from torch.nn import functional as F

weight = torch.ones(1, 1, 3)  # kernel 3
x = torch.zeros(1, 1, 18, requires_grad=True)  # (N, C, L)
layers = {"input": x}
for dilation in (1, 2, 4):
    past = F.pad(x, (2 * dilation, 0))  # zeros on the left
    x = F.conv1d(past, weight, dilation=dilation)
    layers[f"dilation {dilation}"] = x
steps = torch.autograd.grad(x[0, 0, -1], list(layers.values()))
seen = torch.cat(steps)[:, 0] != 0  # (layer, step)

cell = F.pad(torch.ones(7, 7), (1, 0, 1, 0))  # a gap
cells = ListedColormap(["none", "#8a8a8a50", "#3b82d6"])
fig, ax = plt.subplots(figsize=(4.8, 1.4))
table = torch.kron(seen.flip(0) + 1, cell).numpy()
ax.imshow(table, cmap=cells, extent=(-0.5, 17.5, -0.5, 3.5))
ax.set(xlabel="step", xticks=[0, 3, 17], yticks=range(4), yticklabels=layers)
fig.savefig("show_receptive_field.svg")
assert seen[0].sum() == 15
