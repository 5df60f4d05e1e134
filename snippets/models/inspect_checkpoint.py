"""See what is in a checkpoint, and keep its weights only, in bfloat16."""

from pathlib import Path

import torch
from torch import nn

model = nn.Sequential(nn.Linear(256, 256), nn.BatchNorm1d(256))
optimizer = torch.optim.Adam(model.parameters())
model(torch.ones(2, 256)).sum().backward()
optimizer.step()
saved = {"epoch": 3, "model_state_dict": model.state_dict()}
saved["optimizer_state_dict"] = optimizer.state_dict()
torch.save(saved, "last.pt")
path = "last.pt"  # yours: the file

checkpoint = torch.load(path, map_location="cpu", weights_only=True)
print(*checkpoint)  # its keys, or the names of the weights
weights = checkpoint.get("model_state_dict", checkpoint)  # or another key
for name, t in weights.items():
    print(f"{name:22} {tuple(t.shape)!s:10} {t.dtype}")

for name, t in weights.items():
    if t.is_floating_point():  # not the counters and the indices
        weights[name] = t.bfloat16()
torch.save(weights, "weights.pt")
before, after = (Path(p).stat().st_size for p in (path, "weights.pt"))
print(f"{before / after:.1f} times smaller")
