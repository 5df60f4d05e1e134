"""See why reshape does not reorder dimensions: the picture is garbled."""

import matplotlib.pyplot as plt
import torch

H, W = 24, 30
y, x = torch.meshgrid(torch.arange(H), torch.arange(W), indexing="ij")
disc = ((x - 15) ** 2 + (y - 12) ** 2 < 75).float()
image = torch.stack([disc, x / W, y / H], dim=-1)  # (H, W, C)

right = image.permute(2, 0, 1)  # (C, H, W)
wrong = image.reshape(3, H, W)  # the shape is right, the pixels are not

fig, axes = plt.subplots(1, 3, figsize=(4.8, 1.6))
titles = ["image[..., 0]", "permute(…)[0]", "reshape(…)[0]"]
channels = [image[..., 0], right[0], wrong[0]]
for ax, channel, title in zip(axes, channels, titles, strict=True):
    ax.imshow(channel.numpy(), cmap="gray", vmin=0, vmax=1)
    ax.set_title(title)
    ax.axis("off")
fig.savefig("permute_or_reshape.svg")
assert torch.equal(right[0], disc)
assert not torch.equal(wrong[0], disc)
