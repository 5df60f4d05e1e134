"""See which elements the windows of unfold hold, and which are left out."""

import matplotlib.pyplot as plt
import torch
from matplotlib.colors import ListedColormap

x = torch.arange(10)  # (T,), so each value is its place
windows = x.unfold(0, size=5, step=2)  # (windows, size)

rows = {"x": x} | {f"windows[{i}]": row for i, row in enumerate(windows)}
cells = ListedColormap(["none", "#3b82d690"])
fig, ax = plt.subplots(figsize=(4.8, 1.8))
for y, row in enumerate(rows.values()):
    seen = torch.isin(row, windows)[None]
    drawn = range(row[0], row[-1] + 2), [1.3 * y, 1.3 * y + 1], seen
    ax.pcolormesh(*drawn, cmap=cells, vmin=0, vmax=1, edgecolors="gray")
    for place in row.tolist():
        ax.text(place + 0.5, 1.3 * y + 0.5, place, ha="center", va="center")
ax.set_yticks([1.3 * y + 0.5 for y in range(len(rows))], rows)
ax.set(ylim=(4.9, 0), xticks=[], aspect="equal")
ax.spines[:].set_visible(False)
ax.tick_params(length=0)
fig.savefig("show_windows.svg")
assert 9 not in windows
