"""Hold layers in Sequential, ModuleList or ModuleDict, not in a list."""

import torch
from torch import nn


class Net(nn.Module):
    """(N, 8) to (N, 2): a stem, repeated blocks, one of several heads."""

    def __init__(self, depth):
        super().__init__()
        self.stem = nn.Sequential(nn.Linear(8, 16), nn.ReLU())
        self.blocks = nn.ModuleList(nn.Linear(16, 16) for _ in range(depth))
        heads = {"a": nn.Linear(16, 2), "b": nn.Linear(16, 2)}
        self.heads = nn.ModuleDict(heads)

    def forward(self, x, head="a"):
        x = self.stem(x)  # Sequential calls its layers in order
        for block in self.blocks:  # ModuleList: you write the loop
            x = x + torch.relu(block(x))
        return self.heads[head](x)  # ModuleDict: you choose by name


if __name__ == "__main__":
    model = Net(depth=3)
    print(model(torch.randn(4, 8), head="b").shape)
    print(len(list(model.parameters())), "weights and biases")
    plain = nn.Module()
    plain.blocks = [nn.Linear(16, 16)]  # a list: nothing is registered
    print(len(list(plain.parameters())), "in a plain list")
