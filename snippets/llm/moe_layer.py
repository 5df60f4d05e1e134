"""A mixture-of-experts layer: each token goes to its top-k experts."""

import torch
from torch import nn
from torch.nn import functional as F


def moe(x, router_logits, experts, k=2):
    """Mix k experts for each token; x (N, C), router(x) (N, E)."""
    top, chosen = router_logits.topk(k)  # (N, E) to (N, k)
    weight = top.softmax(-1)  # of the k: they sum to 1
    y = torch.zeros_like(x)  # (N, C)
    for e, expert in enumerate(experts):
        n, slot = torch.where(chosen == e)  # the tokens that go to e
        y[n] += weight[n, slot, None] * expert(x[n])
    return y


def balance_loss(router_logits, k=2):
    """Add 0.01 of it to your loss. Source: Switch Transformers."""
    E = router_logits.shape[-1]
    chosen = router_logits.topk(k).indices  # (N, k)
    used = F.one_hot(chosen, E).float().mean((0, 1))  # (E,)
    return E * (used * router_logits.softmax(-1).mean(0)).sum()  # even: 1


class MoE(nn.Module):
    """Instead of the MLP: (B, T, C) to (B, T, C), and a loss to add."""

    def __init__(self, C, hidden, E=8, k=2):
        super().__init__()
        self.k = k
        self.router = nn.Linear(C, E, bias=False)
        self.experts = nn.ModuleList(
            nn.Sequential(
                nn.Linear(C, hidden), nn.GELU(), nn.Linear(hidden, C)
            )
            for _ in range(E)
        )

    def forward(self, x):
        tokens = x.flatten(0, -2)  # (N, C)
        logits = self.router(tokens)  # (N, E)
        y = moe(tokens, logits, self.experts, self.k)
        return y.view_as(x), balance_loss(logits, self.k)


if __name__ == "__main__":
    torch.manual_seed(0)
    layer, x = MoE(C=16, hidden=32), torch.randn(4, 8, 16)
    y, balance = layer(x)
    loss = F.mse_loss(y, x) + 0.01 * balance  # your loss first
    loss.backward()
    # The first token, by hand:
    top, chosen = layer.router(x[0, 0]).topk(2)
    a, b = (layer.experts[e](x[0, 0]) for e in chosen)
    w = top.softmax(-1)
    torch.testing.assert_close(y[0, 0], w[0] * a + w[1] * b)
