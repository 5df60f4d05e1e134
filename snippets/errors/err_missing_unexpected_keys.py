"""Raise the error, compare the names, then load the weights strictly."""

import torch
from torch import nn

model, trained = nn.Linear(4, 2), nn.DataParallel(nn.Linear(4, 2))
checkpoint = {"epoch": 9, "model_state_dict": trained.state_dict()}
torch.save(checkpoint, "last.pt")

weights = torch.load("last.pt", map_location="cpu", weights_only=True)
try:
    model.load_state_dict(weights)
except RuntimeError as error:
    print(error)

for key in ("model_state_dict", "state_dict", "model"):
    weights = weights.get(key, weights)
print("file: ", list(weights)[:3])
print("model:", list(model.state_dict())[:3])
weights = {k.replace("_orig_mod.", ""): v for k, v in weights.items()}
weights = {k.removeprefix("module."): v for k, v in weights.items()}
model.load_state_dict(weights)  # strict: every key must be right
assert torch.equal(model.weight, weights["weight"])
