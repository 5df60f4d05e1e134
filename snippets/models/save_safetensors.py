"""Save and load weights as safetensors, which cannot hold code."""

import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file
from torch import nn

model = nn.Linear(4, 2)
save_file(model.state_dict(), "model.safetensors")
model.load_state_dict(load_file("model.safetensors"))

# Without reading the file: the names, and one tensor.
with safe_open("model.safetensors", framework="pt") as file:
    print(list(file.keys()))
    bias = file.get_tensor("bias")

# Convert a .pth or .pt file of weights.
torch.save(model.state_dict(), "model.pth")
state = torch.load("model.pth", map_location="cpu", weights_only=True)
state = {name: x.clone().contiguous() for name, x in state.items()}
save_file(state, "converted.safetensors")
