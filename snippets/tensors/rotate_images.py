"""Rotate, move and zoom a batch of images by one angle, with torchvision."""

import torch
from torchvision.transforms.v2 import InterpolationMode
from torchvision.transforms.v2 import functional as TF

x = torch.zeros(1, 1, 5, 7)  # (N, C, H, W) or (C, H, W)
x[:, :, 2, 4:6] = 1  # a bar to the right of the center

smooth = InterpolationMode.BILINEAR  # NEAREST for a mask of classes
turned = TF.rotate(x, 90, smooth)  # degrees, counterclockwise
moved = TF.affine(  # degrees, clockwise; pixels to the right and down
    x, angle=0, translate=[-2, 1], scale=1, shear=[0], interpolation=smooth
)

print(turned[0, 0].round().int())
print("moved 2 to the left, 1 down:", moved[0, 0].nonzero().tolist())
