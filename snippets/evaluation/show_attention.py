"""See where a model looks that has learnt to reverse its input."""

import matplotlib.pyplot as plt
import torch
from torch import nn

torch.manual_seed(0)
token, place, maps = nn.Embedding(10, 32), nn.Embedding(8, 32), []
attention, head = nn.MultiheadAttention(32, 1), nn.Linear(32, 10)
parts = nn.ModuleList([token, place, attention, head])
optimizer = torch.optim.Adam(parts.parameters(), lr=0.01)
for _ in range(201):
    ids = torch.randint(10, (8, 64))  # (T, N)
    h = token(ids) + place.weight[:, None]
    out, weights = attention(h, h, h)  # weights (N, T, T)
    maps.append(weights[0].detach().numpy())
    optimizer.zero_grad()
    nn.functional.cross_entropy(head(out).mT, ids.flip(0)).backward()
    optimizer.step()
fig, axes = plt.subplots(1, 2, figsize=(4.8, 2.3))
for ax, step in zip(axes, [0, 200], strict=True):
    ax.imshow(maps[step], cmap="gray", vmin=0, vmax=1)
    ax.set(title=f"step {step}", xlabel="key", ylabel="query")
fig.savefig("show_attention.svg")
assert maps[200].argmax(1).tolist() == [7, 6, 5, 4, 3, 2, 1, 0]
