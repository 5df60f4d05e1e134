"""Cross entropy over a huge vocabulary, without storing all logits."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint


def chunked_cross_entropy(h, weight, target, rows=1024):
    """Mean cross entropy of the logits h @ weight.T, some rows at a time.

    h (N, C), weight (V, C), target (N); targets of -100 are left out.
    """

    def part(h, target):
        logits = (h @ weight.T).float()  # (rows, V)
        return F.cross_entropy(logits, target, reduction="sum")

    chunks = zip(h.split(rows), target.split(rows), strict=True)
    total = sum(checkpoint(part, *c, use_reentrant=False) for c in chunks)
    return total / (target != -100).sum()


if __name__ == "__main__":
    torch.manual_seed(0)
    h = torch.randn(2, 1024, 32, requires_grad=True)  # (B, T, C)
    head = nn.Linear(32, 5_000, bias=False)  # to the vocabulary
    target = torch.randint(5_000, (2, 1024))
    N = h.shape[:-1].numel()
    loss = chunked_cross_entropy(h.view(N, -1), head.weight, target.view(N))
    plain = F.cross_entropy(head(h).view(N, -1), target.view(N))
    grads = torch.autograd.grad(loss, (h, head.weight))
    expected = torch.autograd.grad(plain, (h, head.weight))
    torch.testing.assert_close((loss, *grads), (plain, *expected))
