"""Train on patches of a volume, and predict all of it patch by patch."""

from itertools import product

import torch
from torch import nn


def random_patch(volume, mask, size):
    """The same patch of a volume and of its mask, (..., D, H, W)."""
    part = [...]
    for n, k in zip(volume.shape[-3:], size, strict=True):
        start = int(torch.randint(max(n - k, 0) + 1, ()))
        part.append(slice(start, start + k))
    part = tuple(part)
    return volume[part], mask[part]


@torch.inference_mode()
def predict_in_patches(model, volume, c_out, size, step):
    """Map (1, C, D, H, W) to (1, c_out, D, H, W); patch centres count most."""
    model.eval()  # or each patch would change the statistics of BatchNorm
    device = next(model.parameters()).device
    whole = volume.shape[2:]
    size = [min(k, n) for k, n in zip(size, whole, strict=True)]
    axes = zip(whole, size, step, strict=True)
    starts = [[*range(0, n - k, s), n - k] for n, k, s in axes]
    windows = [torch.hann_window(k + 2, periodic=False)[1:-1] for k in size]
    weight = torch.einsum("d,h,w->dhw", *windows)
    total, weights = torch.zeros(1, c_out, *whole), torch.zeros(whole)
    for corner in product(*starts):
        ends = zip(corner, size, strict=True)
        part = ..., *(slice(i, i + k) for i, k in ends)
        total[part] += weight * model(volume[part].to(device)).cpu()
        weights[part] += weight
    return total / weights


if __name__ == "__main__":
    model = nn.Conv3d(1, 2, 3, padding=1)  # yours
    volume, mask = torch.rand(1, 1, 24, 48, 48), torch.zeros(1, 24, 48, 48)
    size, step = (16, 32, 32), (8, 16, 16)  # a step of half a patch
    x, y = random_patch(volume, mask, size)
    logits = predict_in_patches(model, volume, 2, size, step)
    print(*x.shape, "to train,", *logits.shape, "predicted")
