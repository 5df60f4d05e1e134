"""Raise the error with a file from a missing GPU, then read it anyway."""

from unittest import mock

import torch
from torch import nn

trained, model = nn.Linear(4, 2), nn.Linear(4, 2)
gpu = f"cuda:{torch.cuda.device_count()}"  # one more than there are
with mock.patch("torch.serialization.location_tag", return_value=gpu):
    torch.save(trained.state_dict(), "gpu.pt")  # as if saved on that GPU
try:
    torch.load("gpu.pt", weights_only=True)
except RuntimeError as error:
    print("error:", str(error).partition(" on ")[0])

device = "cuda" if torch.cuda.is_available() else "cpu"
weights = torch.load("gpu.pt", map_location="cpu", weights_only=True)
model.load_state_dict(weights)
model.to(device)

assert torch.equal(model.weight.cpu(), trained.weight)
print("loaded from the", weights["weight"].device)
