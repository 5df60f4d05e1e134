"""Flatten dimensions into one, and split them again."""

import torch
from torch import nn

images = torch.rand(4, 3, 8, 8)  # (N, C, H, W)

vectors = images.flatten(1)  # (N, C*H*W): keeps the batch
back = vectors.unflatten(1, images.shape[1:])  # (N, C, H, W)

model = nn.Sequential(nn.Flatten(), nn.Linear(3 * 8 * 8, 10))  # as a layer
pixels = images.flatten(2)  # (N, C, H*W)

# A layer for images, on every frame of a video: time joins the batch.
video = torch.rand(2, 5, 3, 8, 8)  # (B, T, C, H, W)
conv = nn.Conv2d(3, 6, 3, padding=1)
frames = conv(video.flatten(0, 1))  # (B*T, 6, H, W)
features = frames.unflatten(0, video.shape[:2])  # (B, T, 6, H, W)

assert torch.equal(back, images)
print("vectors", tuple(vectors.shape), "pixels", tuple(pixels.shape))
print("scores", tuple(model(images).shape))
print("frames", tuple(frames.shape), "features", tuple(features.shape))
