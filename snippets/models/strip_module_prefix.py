"""Load weights saved from inside DataParallel, DDP or torch.compile."""

import re

import torch
from torch import nn

wrapped = nn.DataParallel(nn.Linear(4, 2))
torch.save(wrapped.state_dict(), "wrapped.pt")
model = nn.Linear(4, 2)

weights = torch.load("wrapped.pt", map_location="cpu", weights_only=True)
bare = {
    re.sub(r"^((module|_orig_mod)\.)+", "", key): value
    for key, value in weights.items()
}
model.load_state_dict(bare)  # strict: every key must be right

for before, after in zip(weights, bare, strict=True):
    print(before, "->", after)
