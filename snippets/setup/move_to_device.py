"""Move a model and its data to a device, and see where they are."""

import torch
from torch import nn

model = nn.Linear(4, 2)
x, y = torch.ones(8, 4), torch.ones(8, 2)

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model.to(device)  # in place
x, y = x.to(device), y.to(device)  # new tensors: keep them
print("model on", next(model.parameters()).device)

noise = torch.randn(8, 4, device=device)  # made there, not moved
batch = {"x": torch.ones(8, 4), "y": torch.ones(8, 2)}
batch = {k: v.to(device) for k, v in batch.items()}  # a batch that is a dict
assert model(x + noise).device == batch["y"].device == y.device
