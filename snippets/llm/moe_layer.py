"""A mixture-of-experts layer: each token goes to its top-k experts."""

import torch
from torch import nn
from torch.nn import functional as F


class MoE(nn.Module):
    """(B, T, C) to (B, T, C), and a loss. Source: Switch Transformers."""

    def __init__(self, C, experts, k=2):
        super().__init__()
        self.router = nn.Linear(C, len(experts), bias=False)
        self.experts = nn.ModuleList(experts)
        self.k = k

    def forward(self, x):
        tokens = x.flatten(0, -2)  # (N, C)
        logits = self.router(tokens)  # (N, E)
        top, chosen = logits.topk(self.k)  # (N, k)
        weight = top.softmax(-1)  # of the k: they sum to 1
        y = torch.zeros_like(tokens)
        for e, expert in enumerate(self.experts):
            n, slot = torch.where(chosen == e)  # the tokens that go to e
            y[n] += weight[n, slot, None] * expert(tokens[n])
        used = F.one_hot(chosen, len(self.experts)).float().mean((0, 1))
        balance = (used * logits.softmax(-1).mean(0)).sum() * len(used)
        return y.view_as(x), balance  # 1 if all are used alike


def mlp(C, hidden):
    """An expert; any module from (N, C) to (N, C) will do."""
    return nn.Sequential(nn.Linear(C, hidden), nn.GELU(), nn.Linear(hidden, C))


if __name__ == "__main__":
    torch.manual_seed(0)
    layer = MoE(C=16, experts=[mlp(16, 32) for _ in range(8)])
    x = torch.randn(4, 8, 16)  # (B, T, C)
    y, balance = layer(x)  # in place of the MLP
    loss = F.mse_loss(y, x) + 0.01 * balance  # your loss first
    loss.backward()
    # The first token, by hand:
    top, chosen = layer.router(x[0, 0]).topk(2)
    a, b = (layer.experts[e](x[0, 0]) for e in chosen)
    w = top.softmax(-1)
    torch.testing.assert_close(y[0, 0], w[0] * a + w[1] * b)
