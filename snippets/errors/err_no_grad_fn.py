"""Find where the loss is cut off from the weights."""

import torch
from torch import nn
from torch.nn import functional as F

model = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 3))
x, target = torch.randn(5, 4), torch.tensor([0, 2, 1, 1, 0])
logits = model(x)
loss = F.mse_loss(logits.argmax(1).float(), target.float())

# The first False names the cause.
print(torch.is_grad_enabled())  # False: no_grad is on at this line
print(any(p.requires_grad for p in model.parameters()))  # False: all frozen
print(logits.requires_grad)  # False: no_grad or detach in the forward pass
print(loss.requires_grad)  # False: argmax, item, torch.tensor after it

loss = F.cross_entropy(logits, target)  # of the logits, not of argmax
loss.backward()
