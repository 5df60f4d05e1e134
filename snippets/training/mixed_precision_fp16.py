"""Train in float16: a scaler keeps small gradients from becoming zero."""

import torch
from torch import nn

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model, loss_fn = nn.Linear(20, 3).to(device), nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
x = torch.randn(96, 20).to(device)
y = x[:, :3].argmax(1)  # a rule that can be learnt

scaler = torch.amp.GradScaler(device.type)  # float16 only: once
for _ in range(20):
    optimizer.zero_grad()
    with torch.autocast(device.type, dtype=torch.float16):
        loss = loss_fn(model(x), y)
    scaler.scale(loss).backward()  # in place of loss.backward()
    scaler.unscale_(optimizer)  # only needed to clip
    nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
    scaler.step(optimizer)  # skipped if a gradient is inf or NaN
    scaler.update()  # adapts the scale
print(f"after 20 steps: loss {loss:.1f}, scale {scaler.get_scale():.0f}")
