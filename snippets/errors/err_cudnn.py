"""Rule out what makes cuDNN fail: versions, search, layout, cuDNN itself."""

import torch
from torch import nn

gpu = torch.accelerator.current_accelerator(check_available=True)
device = gpu or torch.device("cpu")
model = nn.Conv2d(3, 8, 3).to(device)
images = torch.rand(2, 16, 16, 3, device=device)  # (B, H, W, C)
x = images.permute(0, 3, 1, 2)  # a view, not contiguous

print("cuDNN", torch.backends.cudnn.version())
torch.backends.cudnn.benchmark = False
y = model(x.contiguous())
with torch.backends.cudnn.flags(enabled=False):
    without = model(x)  # slower, without cuDNN
torch.testing.assert_close(y, without, atol=1e-2, rtol=0)
print("the same result without cuDNN")
