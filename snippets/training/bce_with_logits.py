"""Yes-or-no labels: one logit for each, floats as the target, no sigmoid."""

import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(6, 8)
labels = torch.tensor([[1, 0]] * 2 + [[0, 0]] * 3 + [[0, 1]])  # (N, K)
model = nn.Linear(8, 2)  # K logits; one for two classes

target = labels.float()  # (N, K)
positives = target.sum(0).clamp(min=1)  # (K,), of the training set
pos_weight = (len(target) - positives) / positives  # negatives / positives
loss_fn = nn.BCEWithLogitsLoss(pos_weight=pos_weight)
loss = loss_fn(model(x), target)
pred = model(x) > 0  # the same as sigmoid > 0.5
print(f"pos_weight {pos_weight.tolist()}, loss {loss:.2f}")

# sigmoid(20) is 1 in float32, so BCELoss has no gradient where it matters.
logit = torch.tensor([20.0], requires_grad=True)  # certain, and wrong
nn.BCELoss()(logit.sigmoid(), torch.zeros(1)).backward()
print(f"sigmoid, then BCELoss: gradient {logit.grad.item():.0f}")
logit.grad = None
nn.BCEWithLogitsLoss()(logit, torch.zeros(1)).backward()
print(f"BCEWithLogitsLoss: gradient {logit.grad.item():.0f}")
