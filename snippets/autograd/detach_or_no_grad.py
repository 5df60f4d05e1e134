"""Three ways to keep gradients out, and what each of them leaves."""

import torch
from torch import nn

torch.manual_seed(0)
encoder, head = nn.Linear(4, 8), nn.Linear(8, 2)
x = torch.randn(3, 4, requires_grad=True)  # (N, D)

with torch.no_grad():  # evaluation: no graph at all
    scores = head(encoder(x))

features = encoder(x)
head(features.detach()).sum().backward()  # stop here: only head learns

encoder.requires_grad_(False)  # frozen weights
head(encoder(x)).sum().backward()  # gradients still pass through them, to x

print(scores.requires_grad, encoder.weight.grad)
print(tuple(head.weight.grad.shape), tuple(x.grad.shape))
