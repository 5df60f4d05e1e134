"""Raise both errors, then register the layers so that they are trained."""

import torch
from torch import nn


class Net(nn.Module):
    """Layers that the optimizer finds."""

    def __init__(self, depth=3):
        super().__init__()  # before the first layer
        layers = [nn.Linear(8, 8) for _ in range(depth)]
        self.layers = nn.ModuleList(layers)  # not self.layers = layers

    def forward(self, x):
        for layer in self.layers:
            x = layer(x).relu()
        return x


class PlainList(nn.Module):
    """A layer in a list, where nobody looks."""

    def __init__(self):
        super().__init__()
        self.layers = [nn.Linear(8, 8)]


class NoInit(nn.Module):
    """A layer before super().__init__()."""

    def __init__(self):
        self.layer = nn.Linear(8, 8)


if __name__ == "__main__":
    for broken in PlainList, NoInit:
        try:
            torch.optim.AdamW(broken().parameters(), lr=1e-3)
        except (ValueError, AttributeError) as error:
            print(f"{broken.__name__}: {error}")
    model = Net()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    print(f"Net: {len(optimizer.param_groups[0]['params'])} parameters")
