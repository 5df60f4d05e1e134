"""Stochastic depth: in training, drop the branch of a block per sample."""

import torch
from torch import nn
from torch.nn import functional as F


class DropPath(nn.Module):  # in a block: x + drop_path(branch(x))
    """Zero samples with probability p, scale the others by 1 / (1 - p)."""

    def __init__(self, p):
        super().__init__()
        self.p = p

    def forward(self, x):  # (N, ...): N is the batch
        keep = x.new_ones(len(x), *[1] * (x.ndim - 1))  # one per sample
        return x * F.dropout(keep, self.p, training=self.training)


class Block(nn.Module):
    """Add a branch to its input."""

    def __init__(self, width, p):
        super().__init__()
        self.branch = nn.Sequential(
            nn.LayerNorm(width), nn.Linear(width, width)
        )
        self.drop_path = DropPath(p)

    def forward(self, x):
        return x + self.drop_path(self.branch(x))  # the branch, not the sum


if __name__ == "__main__":
    rates = [0.1 * i / 11 for i in range(12)]  # 0 first, 0.1 in the last block
    model = nn.Sequential(*[Block(16, p) for p in rates])
    x = torch.randn(8, 16)
    assert torch.equal(model.eval()(x), model(x))  # eval: nothing is random

    torch.manual_seed(0)
    print(DropPath(0.5)(torch.ones(8, 16))[:, 0].tolist())
