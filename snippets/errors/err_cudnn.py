"""Tell why cuDNN fails: another version, a full GPU, or cuDNN itself."""

import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Conv2d(3, 8, 3).to(device)
images = torch.rand(2, 16, 16, 3, device=device)  # (B, H, W, C)
x = images.permute(0, 3, 1, 2)  # yours: the batch that fails

print("cuDNN", torch.backends.cudnn.version())  # an error: the wrong cuDNN
gpu = torch.cuda.is_available()
print("free, total:", torch.cuda.mem_get_info() if gpu else "no GPU")
with torch.backends.cudnn.flags(enabled=False):
    without = model(x)  # no error: only cuDNN fails; an error: look elsewhere

torch.testing.assert_close(model(x.contiguous()), without, atol=1e-2, rtol=0)
print("the same result with and without cuDNN")
