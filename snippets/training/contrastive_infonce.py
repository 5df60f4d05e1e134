"""Contrastive losses: row i of one view belongs to row i of the other."""

import torch
from torch.nn import functional as F


def info_nce(a, b, temperature=0.1):
    """Symmetric InfoNCE of two batches of embeddings (N, D), as in CLIP."""
    a, b = F.normalize(a, dim=1), F.normalize(b, dim=1)
    logits = a @ b.T / temperature  # (N, N), the pairs on the diagonal
    target = torch.arange(len(a), device=a.device)
    loss_a = F.cross_entropy(logits, target)
    loss_b = F.cross_entropy(logits.T, target)
    return (loss_a + loss_b) / 2


def nt_xent(a, b, temperature=0.5):
    """SimCLR's loss: the other 2N - 2 images of both views are negatives.

    Source: Chen et al. 2020, A Simple Framework for Contrastive Learning.
    """
    z = F.normalize(torch.cat([a, b]), dim=1)  # (2N, D)
    logits = z @ z.T / temperature
    logits = logits.fill_diagonal_(float("-inf"))  # not with itself
    target = torch.arange(len(z), device=z.device).roll(len(a))
    return F.cross_entropy(logits, target)


if __name__ == "__main__":
    torch.manual_seed(0)
    x = torch.randn(64, 20)  # two views of it: x plus noise
    encoder = torch.nn.Linear(20, 8)
    optimizer = torch.optim.Adam(encoder.parameters(), lr=0.01)
    for _ in range(100):
        views = [encoder(x + 0.3 * torch.randn_like(x)) for _ in range(2)]
        loss = info_nce(*views)  # or nt_xent(*views)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss {loss:.1f}, by chance {torch.tensor(64.0).log():.1f}")
