"""Train a batch in parts and in bfloat16: the same step in less memory."""

import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model, loss_fn = nn.Linear(64, 10).to(device), nn.CrossEntropyLoss()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
x = torch.randn(32, 64, device=device)  # (N, ...)
y = torch.randint(10, (32,), device=device)  # (N,)
(whole,) = torch.autograd.grad(loss_fn(model(x), y), model.weight)

size, total = 8, 0.0  # a smaller size, if it still fails
optimizer.zero_grad()
for part, target in zip(x.split(size), y.split(size), strict=True):
    with torch.autocast(x.device.type, dtype=torch.bfloat16):
        loss = loss_fn(model(part), target) * len(part) / len(x)
    loss.backward()  # frees this part; the gradients add up
    total += loss.detach()  # to log: the mean loss of the batch
optimizer.step()

torch.testing.assert_close(model.weight.grad, whole, rtol=0.02, atol=0.02)
