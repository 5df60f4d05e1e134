"""See which tokens each token of a packed row attends to."""

import matplotlib.pyplot as plt
import torch
from matplotlib.colors import ListedColormap
from torch.nn.functional import scaled_dot_product_attention

doc = torch.tensor([0, 0, 0, 0, 1, 1, 1, 2, 2])  # (T,)
mask = (doc[:, None] == doc).tril()
q, v = torch.zeros(1, 9, 8), torch.eye(9)[None]  # so the output is the weights
kinds = {"is_causal=True": {"is_causal": True}}
kinds["attn_mask=mask"] = {"attn_mask": mask}
colours = ListedColormap(["none", "#d64a68", "#3b82d6"])
cell = torch.nn.functional.pad(torch.ones(7, 7), (1, 0, 1, 0))  # a gap
fig, axes = plt.subplots(1, 2, sharey=True, figsize=(4.8, 2.4))
for ax, (title, kind) in zip(axes, kinds.items(), strict=True):
    seen = scaled_dot_product_attention(q, q, v, **kind)[0] > 0  # (T, T)
    cells = torch.kron(seen.long() + (seen & mask), cell).numpy()
    ax.imshow(cells, cmap=colours, vmax=2, extent=(-0.5, 8.5, 8.5, -0.5))
    ax.set_xticks(range(9), doc.tolist())
    ax.set_yticks(range(9), doc.tolist())
    ax.set(title=title, xlabel="key", ylabel="query")
fig.savefig("show_packing.svg")
assert seen.equal(mask)
