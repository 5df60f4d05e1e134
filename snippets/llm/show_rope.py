"""See how RoPE turns each pair of a head by the position of its token."""

import matplotlib.pyplot as plt
import torch

hs, T, theta = 8, 6, 100.0  # theta: 10000 and more for long texts
pos, i = torch.arange(T), torch.arange(hs // 2)
angle = pos[:, None] * theta ** (-i / len(i))  # (T, hs / 2)
a, b = torch.ones(hs // 2), torch.zeros(hs // 2)  # the halves of q
cos, sin = angle.cos(), angle.sin()
x, y = a * cos - b * sin, b * cos + a * sin  # the halves of q, turned

fig, axes = plt.subplots(1, hs // 2, figsize=(4.8, 1.5))
for pair, ax in enumerate(axes):
    ax.add_patch(plt.Circle((0, 0), 1, fc="none", ec="gray", lw=0.5))
    for t in pos.tolist():
        end = x[t, pair].item(), y[t, pair].item()
        ax.plot([0, end[0]], [0, end[1]], color="#3b82d6")
        if pair < 2 or t == T - 1:  # where there is room
            ax.text(1.3 * end[0], 1.3 * end[1], t, ha="center", va="center")
    ax.set(title=f"pair {pair}", xlim=(-1.6, 1.6), ylim=(-1.6, 1.6))
    ax.set_aspect("equal")
    ax.axis("off")
fig.savefig("show_rope.svg")
assert (x**2 + y**2).allclose(torch.ones(T, hs // 2))  # turned, not stretched
