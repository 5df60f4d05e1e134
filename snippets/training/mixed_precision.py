"""Train in mixed precision with bfloat16: one context manager, no scaler."""

import torch
from torch import nn

torch.manual_seed(0)
gpu = torch.accelerator.current_accelerator(check_available=True)
device = gpu or torch.device("cpu")
model = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 3))
model.to(device)  # the weights are float32, and stay so
loss_fn = nn.CrossEntropyLoss()
optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
x = torch.randn(96, 20).to(device)
y = x[:, :3].argmax(1)  # a rule that can be learnt

for _ in range(20):
    optimizer.zero_grad()
    with torch.autocast(device.type, dtype=torch.bfloat16):
        loss = loss_fn(model(x), y)
    loss.backward()  # outside the block
    optimizer.step()
print(f"after 20 steps: loss {loss:.1f}, {loss.dtype}")
with torch.autocast(device.type, dtype=torch.bfloat16):
    print("outputs:", model(x).dtype, "weights:", model[0].weight.dtype)
