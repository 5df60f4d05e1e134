"""Pearson correlation, total variation and cosine: numbers to train on."""

import torch
from torch.nn import functional as F

target = torch.arange(200.0).reshape(4, 50).sin()  # (N, T)
pred = 3 * target.exp() + 7  # another scale and offset
image = torch.linspace(0, 1, 8).expand(1, 3, 8, 8)  # (N, C, H, W), smooth


def pearson(pred, target, dim=-1, eps=1e-6):
    """Correlate along dim; 0 where one of them is constant."""
    p, t = (x - x.mean(dim, True) for x in (pred.float(), target.float()))
    power = (p.square().mean(dim) + eps) * (t.square().mean(dim) + eps)
    return (p * t).mean(dim) / power.sqrt()


def total_variation(x):
    """Return the mean step between neighbouring pixels of (..., H, W)."""
    return x.diff(dim=-1).abs().mean() + x.diff(dim=-2).abs().mean()


loss = 1 - pearson(pred, target).mean()  # 0 best, 1 unrelated, 2 opposite
cosine = 1 - F.cosine_similarity(pred, target, dim=-1).mean()
print(f"{loss:.3f} {cosine:.3f} {total_variation(image):.3f}")  # 1/7: one step
