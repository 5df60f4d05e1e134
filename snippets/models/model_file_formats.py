"""Save a model's weights under any extension, and for others to load."""

from pathlib import Path

import torch
from safetensors.torch import load_model, save_model
from torch import nn

model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))

torch.save(model.state_dict(), "model.pt")  # .pth, .ckpt, .bin: the same
state = torch.load("model.pt", map_location="cpu", weights_only=True)
model.load_state_dict(state)  # the model comes from your code

save_model(model, "model.safetensors")  # to share: no pickle
load_model(model, "model.safetensors")

torch.save(model.state_dict(), "model.pth")
assert Path("model.pth").read_bytes() == Path("model.pt").read_bytes()
torch.save(model, "whole.pt")  # a pickle that needs nn.Sequential, nn.Linear
for path in ("model.pt", "model.safetensors", "whole.pt"):
    print(f"{path:18}begins with {Path(path).read_bytes()[:4]}")
