"""Train without waiting for the GPU at every step: no .item() in the loop."""

import torch
from torch import nn

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Linear(4, 1).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loss_fn = nn.MSELoss()
loader = [(torch.randn(8, 4), torch.randn(8, 1)) for _ in range(100)]

total = torch.zeros((), device=device)  # the sum stays on the GPU
for step, (x, y) in enumerate(loader, start=1):
    x, y = (t.to(device, non_blocking=True) for t in (x, y))
    loss = loss_fn(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    total += loss.detach()  # no .item() here; read total every 50 steps
    if step % 50 == 0:
        print(f"step {step}: loss {total.item() / 50:.2f}")  # waits once
        total.zero_()
