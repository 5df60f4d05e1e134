"""A small U-Net for images of any size: a class for each pixel."""

from itertools import pairwise

import torch
from torch import nn
from torch.nn import functional as F
from torchvision.ops import Conv2dNormActivation as Conv  # and BN, ReLU


def double_conv(c_in, c_out):
    """Two 3 x 3 convolutions that keep the size."""
    return nn.Sequential(Conv(c_in, c_out), Conv(c_out, c_out))


def merge(x, skip, up, conv):
    """Double x to the size of skip, and join them."""
    x = up(x, output_size=skip.shape[2:])  # 12 to 24, or 25
    return conv(torch.cat((skip, x), dim=1))  # 2 * C channels to C


class UNet(nn.Module):
    """Map (N, c_in, H, W) to logits (N, num_classes, H, W)."""

    def __init__(self, c_in, num_classes, widths=(32, 64, 128, 256)):
        super().__init__()
        self.stem = double_conv(c_in, widths[0])
        self.downs, self.ups = nn.ModuleList(), nn.ModuleList()
        self.convs = nn.ModuleList()
        for a, b in pairwise(widths):  # 32, 64; 64, 128; 128, 256
            self.downs.append(double_conv(a, b))
            self.ups.append(nn.ConvTranspose2d(b, a, 2, stride=2))
            self.convs.append(double_conv(2 * a, a))
        self.head = nn.Conv2d(widths[0], num_classes, 1)

    def forward(self, x):
        x, skips = self.stem(x), []
        for down in self.downs:
            skips.append(x)
            x = down(F.max_pool2d(x, 2))
        for i in reversed(range(len(skips))):  # the smallest first
            x = merge(x, skips[i], self.ups[i], self.convs[i])
        return self.head(x)


if __name__ == "__main__":
    torch.manual_seed(0)
    images = torch.rand(2, 3, 50, 75)  # (N, c_in, H, W)
    masks = (images.mean(1) > 0.5).long()  # (N, H, W), int64

    model = UNet(c_in=3, num_classes=2)
    logits = model(images)  # (N, num_classes, H, W)
    loss = F.cross_entropy(logits, masks)  # of logits: no softmax before it
    predicted = logits.argmax(1)  # (N, H, W)

    loss.backward()
    print(tuple(logits.shape), tuple(predicted.shape))
