"""Raise the learning rate for some steps, then let it fall along a cosine."""

import torch
from torch.optim.lr_scheduler import CosineAnnealingLR, LinearLR, SequentialLR

model = torch.nn.Linear(4, 1)
optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)  # the highest rate
loader, epochs, warmup_steps = torch.randn(4, 8, 4), 3, 4


def train_step(batch):
    """Make an update, and print its rate."""
    optimizer.zero_grad()
    model(batch).square().mean().backward()
    optimizer.step()
    print(f"step {scheduler.last_epoch}: lr {scheduler.get_last_lr()[0]:.4f}")


total_steps = epochs * len(loader)
warmup = LinearLR(optimizer, start_factor=0.01, total_iters=warmup_steps)
cosine = CosineAnnealingLR(optimizer, T_max=total_steps - warmup_steps)
scheduler = SequentialLR(optimizer, [warmup, cosine], [warmup_steps])
for _ in range(epochs):
    for batch in loader:
        train_step(batch)  # yours: forward, backward, optimizer.step()
        scheduler.step()  # after every batch, not after every epoch
