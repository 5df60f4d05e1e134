"""Choose one of several options, and still get a gradient."""

import torch
from torch.nn import functional as F

torch.manual_seed(0)
cost = torch.tensor([3.0, 1.0, 2.0])  # of three options
weight = torch.zeros(3, requires_grad=True)  # your model's parameters
optimizer = torch.optim.Adam([weight], lr=0.1)
for _ in range(100):
    logits = weight.expand(32, 3)  # (N, C), not probabilities
    y = F.gumbel_softmax(logits.float(), tau=1.0, hard=True, dim=-1)  # one-hot
    loss = (y * cost).sum(1).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("learned to choose option", weight.argmax().item())
