"""Raise the error, find the break, and keep the loss connected."""

import torch
from torch import nn
from torch.nn import functional as F

model = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 3))
x, target = torch.randn(5, 4), torch.tensor([0, 2, 1, 1, 0])
logits = model(x)
pred = logits.argmax(1).float()  # whole numbers: no gradient
try:
    F.mse_loss(pred, target.float()).backward()
except RuntimeError as error:
    print("error:", error)
print(logits.requires_grad, pred.requires_grad)  # True, then False

model.requires_grad_(False)  # frozen: nothing needs a gradient
model[1].requires_grad_(True)  # the part you train

logits = model(x)  # not under no_grad
loss_1 = F.cross_entropy(logits, target)  # not argmax
loss_2 = logits.square().mean()
loss = torch.stack([loss_1, loss_2]).sum()  # not torch.tensor
loss.backward()
print([n for n, p in model.named_parameters() if p.grad is not None])
