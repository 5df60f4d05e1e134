"""Score restored images in [0, 1] by PSNR and SSIM, one value an image."""

import torch
from torchmetrics.functional import image as metrics

torch.manual_seed(0)
target = torch.rand(2, 3, 64, 64)  # (N, C, H, W) in [0, 1]
noise = torch.tensor([0.01, 0.1]).view(2, 1, 1, 1)  # a good one, a bad one
pred = target + noise * torch.randn_like(target)

pred = pred.clamp(0, 1)  # as a saved image would be
mse = (pred - target).square().mean((1, 2, 3))
psnr = 10 * torch.log10(1.0 / mse)  # (N,) in dB; 1.0: the largest pixel value
ssim = metrics.structural_similarity_index_measure(
    pred, target, data_range=1.0, reduction="none"
)  # (N,), at most 1

pooled = metrics.peak_signal_noise_ratio(pred, target, data_range=1.0)
wrong = metrics.structural_similarity_index_measure(
    pred, target, data_range=255.0
)
print(f"PSNR {psnr[0]:.1f} and {psnr[1]:.1f} dB, mean {psnr.mean():.1f}")
print(f"PSNR of the whole batch {pooled:.1f} dB")
print(f"SSIM {ssim.mean():.3f}; with data_range=255 {wrong:.3f}")
