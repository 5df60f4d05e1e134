"""Cut a signal into sliding windows, an image into patches, and join them."""

import torch
from torch.nn import functional as F

x = torch.arange(10.0)  # (T,)
size = 5  # yours: the length of a window
step = 2  # yours: from one window to the next
images = torch.rand(2, 3, 8, 8)  # (N, C, H, W)
k = 4  # yours: the side of a patch

windows = x.unfold(0, size, step)  # (windows, size): a view
cut = F.unfold(images, k, stride=k)  # (N, C * k * k, L)
patches = cut.mT.unflatten(2, (-1, k, k))  # (N, L, C, k, k)

again = F.fold(cut, (8, 8), k, stride=k)

print(windows)
torch.testing.assert_close(patches[:, 1], images[:, :, :4, 4:])  # row by row
torch.testing.assert_close(again, images)
