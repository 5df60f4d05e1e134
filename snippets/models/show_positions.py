"""See the table of sines: fast waves on the left, slow ones on the right."""

import matplotlib.pyplot as plt
import torch

C, T = 32, 60
column = torch.arange(0, C, 2)
angle = torch.arange(T)[:, None] / 1e4 ** (column / C)  # (T, C / 2)
pe = torch.stack([angle.sin(), angle.cos()], -1).flatten(1)  # (T, C)

fig, axes = plt.subplots(1, 2, figsize=(4.8, 2.4))
axes[0].imshow(pe.numpy(), cmap="gray", aspect="auto")
axes[0].set(xlabel="column", ylabel="position", xticks=[0, 31], yticks=[0, 59])
axes[0].set_title("pe")
axes[1].imshow((pe @ pe.T).numpy(), cmap="gray", aspect="auto")
axes[1].set(
    xlabel="position", xticks=[0, 59], yticks=[0, 59], title="pe @ pe.T"
)
fig.savefig("show_positions.svg")
assert (pe @ pe.T).argmax(1).equal(torch.arange(T))  # nearest to itself
