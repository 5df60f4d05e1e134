"""Raise the learning rate for some steps, then let it fall along a cosine."""

import torch
from torch.optim.lr_scheduler import CosineAnnealingLR, LinearLR, SequentialLR

model = torch.nn.Linear(4, 1)
optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)  # the highest rate
total_steps = 12  # real code: epochs * len(loader)
warmup_steps = total_steps // 3  # real code: // 20

warmup = LinearLR(optimizer, start_factor=0.01, total_iters=warmup_steps)
cosine = CosineAnnealingLR(optimizer, T_max=total_steps - warmup_steps)
scheduler = SequentialLR(optimizer, [warmup, cosine], [warmup_steps])
for step in range(total_steps):  # the batches of all epochs
    print(f"step {step}: lr {scheduler.get_last_lr()[0]:.4f}")
    optimizer.step()  # after loss.backward()
    scheduler.step()  # after every batch, not after every epoch
