"""Save memory: keep only the inputs of blocks, compute the rest again."""

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

N, D = 32, 64
blocks = nn.Sequential()
for _ in range(8):
    wide, narrow = nn.Linear(D, 4 * D), nn.Linear(4 * D, D)
    blocks.append(nn.Sequential(wide, nn.GELU(), nn.Dropout(0.1), narrow))
data = torch.randn(N, D)

torch.manual_seed(0)
x = data
for block in blocks:  # in the forward of your model
    x = checkpoint(block, x, use_reentrant=False)
x.square().mean().backward()

# A plain forward with the same dropout has the same gradients.
torch.manual_seed(0)
loss = blocks(data).square().mean()
plain = torch.autograd.grad(loss, list(blocks.parameters()))
for parameter, gradient in zip(blocks.parameters(), plain, strict=True):
    assert torch.equal(parameter.grad, gradient)
