"""Double the size of feature maps, in three ways that learn."""

import torch
from torch import nn

x = torch.rand(2, 64, 7, 7)  # (N, C, H, W)

up = nn.Sequential(
    nn.Upsample(scale_factor=2, mode="bilinear"),
    nn.Conv2d(64, 32, 3, padding=1),  # 64 channels to 32
)

transposed = nn.ConvTranspose2d(64, 32, 4, stride=2, padding=1)
four = nn.Conv2d(64, 4 * 32, 3, padding=1)  # 4 channels make 2 x 2 pixels
shuffle = nn.Sequential(four, nn.PixelShuffle(2))
for layer in (up, transposed, shuffle):
    assert layer(x).shape == (2, 32, 14, 14)

# On a constant image, how many inputs reach each pixel of the output?
for k, padding in ((2, 0), (3, 1), (4, 1)):
    layer = nn.ConvTranspose2d(1, 1, k, stride=2, padding=padding, bias=False)
    nn.init.ones_(layer.weight)
    row = layer(torch.ones(1, 1, 5, 5))[0, 0, 4]
    print(f"kernel {k}:", row.int().tolist())
