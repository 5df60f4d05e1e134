"""Move a model and its data to a device, and see where they are."""

import torch
from torch import nn

gpu = torch.accelerator.current_accelerator(check_available=True)
device = gpu or torch.device("cpu")
model, x = nn.Linear(4, 2), torch.ones(8, 4)
batch = {"x": torch.ones(8, 4), "y": torch.ones(8, 2)}

model.to(device)  # in place
x = x.to(device)  # a new tensor: keep it
batch = {k: v.to(device) for k, v in batch.items()}
print("model on", next(model.parameters()).device)

noise = torch.randn(8, 4, device=device)  # made there, not moved
assert model(x + noise).device == batch["y"].device
