"""Mask the weight of a layer that exists, of any kind."""

import torch
from torch import nn
from torch.nn.utils import parametrize


class Mask(nn.Module):
    """A weight with zeros where the mask is 0."""

    def __init__(self, mask):
        super().__init__()
        self.register_buffer("mask", mask.bool())

    def forward(self, weight):
        return weight * self.mask


layer = nn.Linear(4, 4)  # yours: nn.Conv2d and others, too
mask = torch.ones(4, 4).tril()  # broadcasts to the weight
parametrize.register_parametrization(layer, "weight", Mask(mask))
print((layer.weight != 0).int(), list(layer.state_dict()))
parametrize.remove_parametrizations(layer, "weight")  # before saving
assert torch.equal(layer.weight, layer.weight.tril())
