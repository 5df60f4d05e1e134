"""Segment an image and its mirror image, and average each pixel."""

import torch
from torch import nn

segmenter = nn.Conv2d(3, 5, 3, padding=1)  # yours: logits (N, C, H, W)
images = torch.rand(4, 3, 32, 32)  # (N, 3, H, W)

segmenter.eval()
with torch.inference_mode():
    mirrored = segmenter(images.flip(-1)).flip(-1)  # flipped back
    outputs = torch.stack([segmenter(images), mirrored])
    probs = outputs.softmax(2).mean(0)  # (N, C, H, W)
mask = probs.argmax(1)  # (N, H, W)
print(tuple(mask.shape))
