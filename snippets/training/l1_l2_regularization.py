"""Keep the weights small: L2 by AdamW, L1 as a term of the loss."""

import torch
from torch import nn

torch.manual_seed(0)
x, y = torch.randn(64, 8), torch.randn(64, 1)
model = nn.Linear(8, 1)

weights = [p for p in model.parameters() if p.ndim > 1]  # not biases or norms
others = [p for p in model.parameters() if p.ndim <= 1]
groups = [{"params": weights}, {"params": others, "weight_decay": 0.0}]
optimizer = torch.optim.AdamW(groups, lr=1e-3, weight_decay=0.01)  # L2

l1 = sum(p.abs().sum() for p in weights)
loss = nn.functional.mse_loss(model(x), y) + 1e-4 * l1
loss.backward()
optimizer.step()

# Adam divides the decay by the size of the gradients, AdamW does not.
for name in ("Adam", "AdamW"):
    w = nn.Parameter(torch.ones(2))
    w.grad = torch.tensor([0.0, 10.0])  # the data: nothing, and a lot
    getattr(torch.optim, name)([w], lr=0.1, weight_decay=0.1).step()
    print(name, [round(v, 2) for v in w.tolist()])
