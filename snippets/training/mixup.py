"""Train on blends of two samples, and blend their losses alike."""

import torch
from torch import nn
from torch.distributions import Beta

torch.manual_seed(0)
x, y = torch.randn(8, 3, 32, 32), torch.randint(10, (8,))  # a batch
model = nn.Sequential(nn.Flatten(), nn.Linear(3 * 32 * 32, 10))
loss_fn = nn.CrossEntropyLoss()

lam = Beta(0.2, 0.2).sample().item()  # one per batch
order = torch.randperm(len(x), device=x.device)  # the partners
logits = model(lam * x + (1 - lam) * x[order])
loss = lam * loss_fn(logits, y) + (1 - lam) * loss_fn(logits, y[order])
loss.backward()

# The same with soft targets: cross entropy is linear in the target.
one_hot = nn.functional.one_hot(y, 10).float()
soft = lam * one_hot + (1 - lam) * one_hot[order]  # (N, C)
torch.testing.assert_close(loss, loss_fn(logits, soft))
print(f"{lam:.2f} of class {y[0]}, {1 - lam:.2f} of class {y[order[0]]}")
