"""Three ways to keep gradients out, and what each of them leaves."""

import torch
from torch import nn

torch.manual_seed(0)
encoder, head = nn.Linear(4, 8), nn.Linear(8, 2)
loss_fn = nn.CrossEntropyLoss()
x = torch.randn(3, 4, requires_grad=True)  # (N, D)
y = torch.tensor([0, 1, 1])  # (N,)

with torch.no_grad():  # evaluation: no graph at all
    scores = head(encoder(x))

features = encoder(x)
loss = loss_fn(head(features.detach()), y)  # stop here: only head learns

encoder.requires_grad_(False)  # frozen weights
through = loss_fn(head(encoder(x)), y)  # gradients still pass, to head and x

for name, value in {"detached": loss, "frozen": through}.items():
    value.backward()
    print(name, "head", head.weight.grad is not None, end=", ")
    print("encoder", encoder.weight.grad is not None, end=", ")
    print("x", x.grad is not None)
