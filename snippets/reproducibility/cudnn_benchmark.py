"""Let cuDNN search for its fastest convolutions."""

import torch
from torch import nn

torch.backends.cudnn.benchmark = True
torch.backends.cudnn.deterministic = False

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
conv = nn.Conv2d(3, 16, kernel_size=3, device=device)
x = torch.randn(8, 3, 32, 32, device=device)
y = conv(x)  # on a GPU: the first batch of this size is slow
torch.testing.assert_close(y, conv(x), rtol=1e-2, atol=1e-2)
