"""See which keys two new tokens see when four are in the cache."""

import matplotlib.pyplot as plt
import torch
from matplotlib.colors import ListedColormap
from torch.nn.functional import scaled_dot_product_attention

T, new = 6, 2
q, k = torch.zeros(1, new, 8), torch.zeros(1, T, 8)
v = torch.eye(T)[None]  # so the output is the attention weights

past = torch.ones(new, T, dtype=torch.bool).tril(T - new)
masks = {"is_causal=True": {"is_causal": True}}
masks["attn_mask=past"] = {"attn_mask": past}
fig, axes = plt.subplots(1, 2, sharey=True, figsize=(4.8, 1.5))
for ax, (title, mask) in zip(axes, masks.items(), strict=True):
    hidden = scaled_dot_product_attention(q, k, v, **mask)[0] == 0
    cells = ListedColormap(["#3b82d6", "none"])
    ax.pcolormesh(range(T), [4, 5], hidden, cmap=cells, edgecolors="gray")
    for query, key in hidden.nonzero().tolist():
        ax.text(key, query + 4, "×", ha="center", va="center")
    ax.set(title=title, xlabel="key", xticks=range(T), yticks=[4, 5])
axes[0].set(ylabel="query", ylim=(5.5, 3.5))
fig.savefig("show_causal.svg")
assert not hidden[-1].any()  # the last token sees every key
