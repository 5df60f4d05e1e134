"""Constrain a weight by a function of your own: positive numbers."""

import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.utils import parametrize


class Positive(nn.Module):
    """Map any number to a positive one; right_inverse maps it back."""

    def forward(self, raw):
        return F.softplus(raw)

    def right_inverse(self, weight):  # negative ones lose their sign
        weight = weight.abs().clamp(min=1e-6)
        return weight + torch.log(-torch.expm1(-weight))


if __name__ == "__main__":
    layer = nn.Linear(3, 1, bias=False)
    parametrize.register_parametrization(layer, "weight", Positive())
    layer.weight = torch.tensor([[0.5, 1.0, 2.0]])  # by right_inverse
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.5)
    for _ in range(50):  # towards a target that wants negative weights
        optimizer.zero_grad()
        (layer.weight + 1).square().sum().backward()
        optimizer.step()
    print("positive:", (layer.weight > 0).all().item())
