"""Give one sample its batch, and take it off again."""

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.Flatten(), nn.LazyLinear(10))
image = torch.rand(3, 32, 32)  # (C, H, W): one image
images = [image, image.flip(-1)]  # yours: a list of (C, H, W), all of one size

batch = image.unsqueeze(0)  # (1, C, H, W); or image[None]
scores = model(batch)[0]  # (classes,): of that image
several = torch.stack(images)  # (N, C, H, W)
photo = torch.zeros(32, 32, 3).permute(2, 0, 1)[None]  # from (H, W, C)

for x in (batch, scores, several, photo):
    print(tuple(x.shape))
