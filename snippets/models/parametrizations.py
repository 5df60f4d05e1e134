"""Constrain a weight with the parametrizations that PyTorch has."""

import torch
from torch import nn
from torch.nn.utils import parametrizations, parametrize

torch.manual_seed(0)
layer = nn.Linear(8, 4)  # yours: any layer with a weight

parametrizations.spectral_norm(layer)  # in place: largest singular value 1

ortho = parametrizations.orthogonal(nn.Linear(8, 4))
normed = parametrizations.weight_norm(nn.Linear(8, 4))

norm = torch.linalg.matrix_norm(layer.weight, 2).item()
print(f"largest singular value: {norm:.1f}")
error = ortho.weight @ ortho.weight.T - torch.eye(4)
print("rows at right angles:", (error.abs() < 1e-5).all().item())
print("trained:", list(layer.state_dict())[:2])
parametrize.remove_parametrizations(layer, "weight")  # keeps the value
print("removed:", list(layer.state_dict()))
