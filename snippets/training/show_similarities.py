"""See the similarity of every pair before and after training."""

import matplotlib.pyplot as plt
import torch
from torch.nn import functional as F

torch.manual_seed(0)
x, encoder, shown = torch.randn(12, 20), torch.nn.Linear(20, 16), []
optimizer = torch.optim.Adam(encoder.parameters(), lr=0.02)
for step in range(201):
    views = [encoder(x + torch.randn_like(x) / 4) for _ in range(2)]
    a, b = (F.normalize(view, dim=1) for view in views)
    similarity = a @ b.T  # (N, N)
    if step in (0, 200):
        shown.append(similarity.detach().numpy())
    loss = F.cross_entropy(similarity / 0.1, torch.arange(12))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
fig, axes = plt.subplots(1, 2, figsize=(4.8, 2.3))
for ax, cells, title in zip(axes, shown, ["before", "after"], strict=True):
    ax.imshow(cells, cmap="gray", vmin=0, vmax=1)
    ax.set(title=title, xlabel="b", ylabel="a", xticks=[], yticks=[])
fig.savefig("show_similarities.svg")
assert cells.trace() > 0.6 * 12
