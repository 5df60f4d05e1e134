"""Store the linear layers of a model in int8; measure size and error."""

from copy import deepcopy
from pathlib import Path

import torch
from torch import nn
from torchao.quantization import Int8WeightOnlyConfig, quantize_

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(512, 1024), nn.ReLU(), nn.Linear(1024, 10))
x = torch.randn(64, 512)
torch.save(model.eval().state_dict(), "float.pth")
new_model = deepcopy(model)  # yours: a model of the same class, in float

int8 = deepcopy(model)
quantize_(int8, Int8WeightOnlyConfig())  # in place, only nn.Linear
torch.save(int8.state_dict(), "int8.pth")
weights = torch.load("int8.pth", weights_only=True)
new_model.load_state_dict(weights, assign=True)  # needs no quantize_

ratio = Path("float.pth").stat().st_size / Path("int8.pth").stat().st_size
with torch.inference_mode():
    error = (new_model(x) - model(x)).norm() / model(x).norm()
print(f"{ratio:.1f} times smaller, error {error:.1%}")
