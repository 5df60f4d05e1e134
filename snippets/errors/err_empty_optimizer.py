"""Register the layers of a list, so that the optimizer finds their weights."""

import torch
from torch import nn


class Net(nn.Module):
    """As many layers as you ask for."""

    def __init__(self, depth):
        super().__init__()  # before the first layer
        layers = [nn.Linear(8, 8) for _ in range(depth)]
        self.layers = nn.ModuleList(layers)  # not self.layers = layers

    def forward(self, x):
        for layer in self.layers:
            x = layer(x).relu()
        return x


if __name__ == "__main__":
    model = Net(depth=3)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    model(torch.ones(1, 8)).sum().backward()
    print(model)  # all that is registered
