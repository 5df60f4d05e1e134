"""Train a keypoint model: Gaussian heatmaps, masked MSE, decode to pixels."""

import torch
from torch import nn

FLIP = [0, 2, 1]  # nose, left eye, right eye: who is who in a mirror


def make_heatmaps(points, size, stride=4, sigma=2.0):
    """Turn points (N, K, 2), image pixels, x first, into (N, K, *size)."""
    x, y = ((points + 0.5) / stride - 0.5)[..., None, None].unbind(2)
    i = torch.arange(size[0], device=points.device)[:, None]
    j = torch.arange(size[1], device=points.device)
    return torch.exp(-((j - x) ** 2 + (i - y) ** 2) / (2 * sigma**2))


def decode(heatmaps, stride=4):
    """Return points (N, K, 2) in image pixels and their scores (N, K)."""
    heatmaps = heatmaps.float()
    score = heatmaps.amax((2, 3))  # (N, K), the height of the peak
    p = 20 * heatmaps / score[..., None, None].clamp(min=1e-6)
    p = p.flatten(2).softmax(2).view_as(heatmaps)
    x = (p.sum(2) * torch.arange(p.shape[3], device=p.device)).sum(2)
    y = (p.sum(3) * torch.arange(p.shape[2], device=p.device)).sum(2)
    return (torch.stack([x, y], 2) + 0.5) * stride - 0.5, score


def hflip(images, points, visible):
    """Mirror the images; left and right points change places."""
    x, y = points.unbind(2)
    points = torch.stack([images.shape[3] - 1 - x, y], 2)
    return images.flip(3), points[:, FLIP], visible[:, FLIP]


if __name__ == "__main__":
    torch.manual_seed(0)
    points = 8 + 47 * torch.rand(8, 3, 2)  # (N, K, 2)
    visible = torch.rand(8, 3) > 0.2  # (N, K)
    images = make_heatmaps(points, (64, 64), stride=1)  # (N, 3, H, W)
    images = images + 0.1 * torch.randn_like(images)
    model = nn.Sequential(
        nn.Conv2d(3, 16, 5, stride=2, padding=2),
        nn.ReLU(),
        nn.Conv2d(16, 3, 5, stride=2, padding=2),
    )
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    for _ in range(40):
        pred = model(images)  # (N, K, H / 4, W / 4)
        target = make_heatmaps(points, pred.shape[2:])
        error = (pred - target).square().mean((2, 3)) * visible  # (N, K)
        loss = error.sum() / visible.sum().clamp(min=1)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    found, score = decode(model(images).detach())
    distance = (found - points).norm(dim=2)
    print(f"mean error {distance[visible].mean():.0f} of 64 pixels")
