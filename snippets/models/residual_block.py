"""A ResNet basic block: two convolutions, and a shortcut around them."""

import torch
from torch import nn
from torchvision.models.resnet import BasicBlock


class ResidualBlock(nn.Module):
    """(N, c_in, H, W) to (N, c_out, H / stride, W / stride)."""

    def __init__(self, c_in, c_out, stride=1):
        super().__init__()
        self.conv1 = nn.Conv2d(c_in, c_out, 3, stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(c_out)  # has a bias of its own
        self.conv2 = nn.Conv2d(c_out, c_out, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(c_out)
        self.relu = nn.ReLU()
        self.downsample = nn.Identity()
        if stride != 1 or c_in != c_out:  # project x to the new shape
            self.downsample = nn.Sequential(
                nn.Conv2d(c_in, c_out, 1, stride, bias=False),
                nn.BatchNorm2d(c_out),
            )

    def forward(self, x):
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))  # no ReLU before the sum
        return self.relu(out + self.downsample(x))


if __name__ == "__main__":
    x = torch.rand(2, 64, 32, 32)  # (N, 64, H, W)
    project = nn.Conv2d(64, 128, kernel_size=1, stride=2, bias=False)
    shortcut = nn.Sequential(project, nn.BatchNorm2d(128))
    block = BasicBlock(64, 128, stride=2, downsample=shortcut)
    y = block(x)  # (N, 128, H / 2, W / 2)

    ours = ResidualBlock(64, 128, stride=2)
    ours.load_state_dict(block.state_dict())  # the names are the same
    torch.testing.assert_close(ours(x), y)
    print(tuple(y.shape))
