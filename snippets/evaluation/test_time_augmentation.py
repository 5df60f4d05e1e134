"""Average the predictions for an image and its mirror image."""

import torch
from torch import nn

model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.Flatten(), nn.Linear(7200, 10))
segmenter = nn.Conv2d(3, 5, 3, padding=1)
x = torch.rand(4, 3, 32, 32)  # (N, 3, H, W)

model.eval()
with torch.inference_mode():
    views = [x, x.flip(-1)]  # as it is, and left to right
    probs = torch.stack([model(view).softmax(1) for view in views]).mean(0)
predicted = probs.argmax(1)  # (N,)

# Segmentation: flip the output back, or the mean mixes other pixels.
segmenter.eval()
with torch.inference_mode():
    outputs = [segmenter(x), segmenter(x.flip(-1)).flip(-1)]
    pixels = torch.stack(outputs).softmax(2).mean(0)  # (N, classes, H, W)
mask = pixels.argmax(1)  # (N, H, W)
print(tuple(probs.shape), tuple(pixels.shape))
