"""Filter images with a known kernel: Sobel edges, Gaussian blur."""

import torch
from torch.nn import functional as F
from torchvision.transforms.v2 import functional as TF

images = torch.zeros(2, 3, 8, 8)  # (N, C, H, W) or (C, H, W)
images[..., 4:] = 1  # the right half is white

blurred = TF.gaussian_blur(images, kernel_size=[5, 5], sigma=[1.0, 1.0])

C = images.shape[-3]
kernel = torch.tensor([[-1.0, 0, 1], [-2, 0, 2], [-1, 0, 1]])  # Sobel
weight = kernel.to(images.device).expand(C, 1, 3, 3)  # for each channel
padded = F.pad(images.float(), (1, 1, 1, 1), mode="reflect")
dx = F.conv2d(padded, weight, groups=C)
dy = F.conv2d(padded, weight.mT, groups=C)
edges = (dx**2 + dy**2 + 1e-12).sqrt()  # no NaN gradient where it is flat

torch.set_printoptions(precision=2, sci_mode=False)
print("image", images[0, 0, 0])
print("edges", edges[0, 0, 0])
print("blurred", blurred[0, 0, 0])
