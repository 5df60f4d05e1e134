"""Read how much GPU memory a training run uses; without a GPU, all are 0."""

import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Linear(1024, 1024).to(device)
optimizer = torch.optim.AdamW(model.parameters())
for _ in range(3):  # AdamW allocates its state in the first step
    optimizer.zero_grad()
    model(torch.randn(64, 1024, device=device)).sum().backward()
    optimizer.step()

MiB = 2**20
now = torch.cuda.memory_allocated() / MiB  # in tensors
peak = torch.cuda.max_memory_allocated() / MiB  # in tensors, at most
reserved = torch.cuda.max_memory_reserved() / MiB  # with the cache
print(f"now {now:.0f} MiB, peak {peak:.0f}, with the cache {reserved:.0f}")

assert now <= peak <= reserved, (now, peak, reserved)
