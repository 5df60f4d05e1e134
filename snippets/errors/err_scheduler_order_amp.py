"""Step the scheduler only if the GradScaler has not skipped the update."""

import torch
from torch import nn

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model, x = nn.Linear(4, 1).to(device), 9 * torch.ones(8, 4, device=device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.5)
scaler = torch.amp.GradScaler(device.type, init_scale=2.0**126)  # too high

for step in range(8):
    optimizer.zero_grad()
    scaler.scale(model(x).square().mean()).backward()
    scale = scaler.get_scale()
    scaler.step(optimizer)
    scaler.update()  # lowers the scale if it has skipped the step
    if scaler.get_scale() >= scale:
        scheduler.step()
    print(f"step {step}: lr {scheduler.get_last_lr()[0]:.6f}")
