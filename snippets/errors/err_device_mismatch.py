"""Leave the batch on the CPU, read the error, then move it to the model."""

import torch
from torch import nn

# Without a GPU, the meta device (shapes, no values) complains, too.
gpu = "cuda" if torch.cuda.is_available() else "meta"
model = nn.Linear(4, 3).to(gpu)
x, target = torch.randn(2, 4), torch.tensor([0, 2])  # (B, 4) (B,)
try:
    model(x)
except RuntimeError as error:
    print("error:", error)

device = next(model.parameters()).device
x, target = x.to(device), target.to(device)  # not x.to(device) alone

loss = nn.functional.cross_entropy(model(x), target)
assert loss.device == device
