"""Cut a signal into sliding windows, an image into patches, and join them."""

import torch
from torch.nn import functional as F

x = torch.arange(10.0)  # (T,)
images = torch.rand(2, 3, 8, 8)  # (N, C, H, W)

windows = x.unfold(0, 5, 2)  # dim, size, step: a view, (3, 5)
cut = F.unfold(images, 4, stride=4)  # (N, C * 4 * 4, L)
patches = cut.mT.unflatten(2, (-1, 4, 4))  # (N, L, C, 4, 4)

again = F.fold(cut, (8, 8), 4, stride=4)

print(windows)
torch.testing.assert_close(patches[:, 1], images[:, :, :4, 4:])  # row by row
torch.testing.assert_close(again, images)
