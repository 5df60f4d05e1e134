"""Yes-or-no labels: one logit for each, floats as the target, no sigmoid."""

import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(4, 8)
labels = torch.tensor([[1, 0], [0, 0], [1, 1], [0, 1]])  # (N, K) of 0 and 1
model = nn.Linear(8, 2)  # K outputs

loss_fn = nn.BCEWithLogitsLoss()
logits = model(x)  # (N, K), no sigmoid
loss = loss_fn(logits, labels.float())  # the same shape
pred = logits > 0  # the same as sigmoid > 0.5

# sigmoid(20) is 1 in float32, so BCELoss has no gradient where it matters.
logit = torch.tensor([20.0], requires_grad=True)  # certain, and wrong
nn.BCELoss()(logit.sigmoid(), torch.zeros(1)).backward()
print(f"sigmoid, then BCELoss: gradient {logit.grad.item():.0f}")
logit.grad = None
nn.BCEWithLogitsLoss()(logit, torch.zeros(1)).backward()
print(f"BCEWithLogitsLoss: gradient {logit.grad.item():.0f}")
