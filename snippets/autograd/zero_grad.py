"""Clear the gradients in every step: `backward()` adds to them."""

import torch
from torch import nn

x, y = torch.tensor([[1.0], [2.0]]), torch.tensor([[2.0], [4.0]])
model = nn.Linear(1, 1, bias=False)
loss_fn = nn.MSELoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

for _ in range(20):
    loss = loss_fn(model(x), y)
    optimizer.zero_grad()  # or backward() adds to the old gradients
    loss.backward()
    optimizer.step()
print(f"weight {model.weight.item():.2f}")

# Without zero_grad(): d(w²)/dw = 6 at w = 3, but .grad grows.
w = torch.tensor(3.0, requires_grad=True)
for step in range(3):
    (w**2).backward()
    print(f"backward {step + 1}: w.grad = {w.grad.item():g}")
