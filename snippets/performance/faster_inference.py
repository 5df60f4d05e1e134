"""Run a trained model fast: no gradients, float16 on a GPU, one batch."""

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Conv2d(3, 16, 3), nn.ReLU(), nn.Conv2d(16, 8, 3))
images = [torch.randn(3, 32, 32) for _ in range(8)]  # each (C, H, W)
expected = model(torch.stack(images)).detach()

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
dtype = torch.float16 if device.type == "cuda" else torch.float32
layout = torch.channels_last  # for convolutions
model = model.eval().to(device, dtype, memory_format=layout)  # once
with torch.inference_mode():
    x = torch.stack(images).to(device, dtype, memory_format=layout)
    y = model(x).float().cpu()

torch.testing.assert_close(y, expected, rtol=0.01, atol=0.01)
