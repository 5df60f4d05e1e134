"""Stochastic depth: in training, drop the branch of a block per sample."""

import torch
from torch import nn
from torchvision.ops import StochasticDepth


class Block(nn.Module):
    """Add a branch to its input; in training, to a part of the samples."""

    def __init__(self, branch, p):
        super().__init__()
        self.branch = branch
        self.drop_path = StochasticDepth(p, mode="row")  # one row, one sample

    def forward(self, x):  # (N, ...): N is the batch
        return x + self.drop_path(self.branch(x))  # the branch, not the sum


class DropPath(nn.Module):
    """The same without torchvision: zero samples, scale the others."""

    def __init__(self, p):
        super().__init__()
        self.p = p

    def forward(self, x):
        keep = x.new_ones((len(x),) + (1,) * (x.ndim - 1))  # one per sample
        return x * nn.functional.dropout(keep, self.p, self.training)


if __name__ == "__main__":
    branches = [nn.Linear(16, 16) for _ in range(12)]  # yours: from first on

    n = len(branches)  # rates: 0 in the first block, 0.1 in the last
    rates = [0.1 * i / max(n - 1, 1) for i in range(n)]
    blocks = [Block(b, p) for b, p in zip(branches, rates, strict=True)]
    model = nn.Sequential(*blocks)

    x = torch.randn(8, 16)
    assert torch.equal(model.eval()(x), model(x))  # eval: nothing is random
    torch.manual_seed(0)
    print(DropPath(0.5)(torch.ones(8, 16))[:, 0].tolist())
