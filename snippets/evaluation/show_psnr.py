"""See three images of the same PSNR; SSIM tells them apart."""

import matplotlib.pyplot as plt
import torch
from torchmetrics.functional import image as metrics

torch.manual_seed(0)
y, x = torch.meshgrid(torch.arange(40), torch.arange(40), indexing="ij")
clean = 0.3 + 0.4 * ((x // 8 + y // 8) % 2)[None, None]  # (1, 1, H, W)
errors = {"brighter": torch.ones(40, 40), "noise": torch.randn(40, 40)}
blur = torch.nn.AvgPool2d(7, stride=1, padding=3, count_include_pad=False)
errors["blurred"] = blur(clean) - clean
images = {"target": clean}
for name, error in errors.items():
    images[name] = clean + 0.1 * error / error.square().mean().sqrt()
fig, axes = plt.subplots(1, 4, figsize=(4.8, 1.7))
for ax, (name, x) in zip(axes, images.items(), strict=True):
    ssim = metrics.structural_similarity_index_measure(x, clean, data_range=1)
    ax.imshow(x[0, 0].numpy(), cmap="gray", vmin=0, vmax=1)
    ax.set_title(f"{name}\nSSIM {ssim:.2f}")
    ax.axis("off")
fig.savefig("show_psnr.svg")
psnr = metrics.peak_signal_noise_ratio(x, clean, data_range=1.0)
assert abs(psnr - 20) < 1e-3
