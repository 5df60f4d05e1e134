"""Update once per several small batches, as one large batch would."""

import torch
from torch import nn

torch.manual_seed(0)
x_all, y_all = torch.randn(48, 8), torch.randn(48, 1)
loader = list(zip(x_all.split(8), y_all.split(8), strict=True))  # 6 batches
model, device = nn.Linear(8, 1, bias=False), torch.device("cpu")
loss_fn, optimizer = nn.MSELoss(), torch.optim.SGD(model.parameters(), lr=0.1)
w = model.weight.detach().T.clone()

steps = 4  # 4 batches of 8 act as one of 32
for i, (x, y) in enumerate(loader):
    group = min(steps, len(loader) - i // steps * steps)  # the last is smaller
    loss = loss_fn(model(x.to(device)), y.to(device)) / group
    loss.backward()  # adds to the gradients
    if (i + 1) % steps == 0 or i + 1 == len(loader):
        optimizer.step()
        optimizer.zero_grad()

for x, y in zip(x_all.split(32), y_all.split(32), strict=True):  # by hand
    w -= 0.1 * 2 / len(x) * x.T @ (x @ w - y)
print(f"difference from large batches: {(model.weight.T - w).norm():.3f}")
