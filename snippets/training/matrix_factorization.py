"""Recommend items to users: matrix factorization trained with BPR."""

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset


class MatrixFactorization(nn.Module):
    """Score of a pair: dot product of two vectors, and a bias per item."""

    def __init__(self, users, items, dim=64):
        super().__init__()
        self.user = nn.Embedding(users, dim)
        self.item = nn.Embedding(items, dim)
        self.bias = nn.Embedding(items, 1)  # how popular the item is
        for table in (self.user, self.item, self.bias):
            nn.init.normal_(table.weight, std=0.1)

    def forward(self, user, item):  # ids that broadcast, (B,) and (B,)
        dot = (self.user(user) * self.item(item)).sum(-1)
        return dot + self.bias(item).squeeze(-1)


def bpr_loss(model, user, item, seen):  # ids (B,), (B,); bool (U, I)
    """Let an item of the user score above a sample of the others."""
    other = torch.randint(seen.shape[1], item.shape, device=item.device)
    margin = model(user, item) - model(user, other)  # (B,)
    return -(F.logsigmoid(margin) * ~seen[user, other]).mean()


def recall_at_k(scores, seen, held_out, k):  # (U, I) each
    """Share of the held-out items in the first k, mean over the users."""
    scores = scores.masked_fill(seen, -torch.inf)  # do not recommend again
    hits = held_out.gather(1, scores.topk(k).indices).sum(1)  # (U,)
    return (hits / held_out.sum(1)).nanmean().item()  # NaN: none held out


if __name__ == "__main__":
    torch.manual_seed(0)
    same_taste = torch.arange(80)[:, None] % 4 == torch.arange(100) % 4
    liked = torch.rand(80, 100) < torch.where(same_taste, 0.5, 0.02)  # (U, I)
    held_out = liked & (torch.rand(80, 100) < 0.2)
    seen = liked & ~held_out
    pairs = TensorDataset(*seen.nonzero(as_tuple=True))  # (user, item)
    loader = DataLoader(pairs, batch_size=128, shuffle=True)

    model = MatrixFactorization(80, 100)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(20):
        for user, item in loader:
            loss = bpr_loss(model, user, item, seen)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    with torch.no_grad():  # (U, 1) and (I,): all pairs
        scores = model(torch.arange(80)[:, None], torch.arange(100))
    popular = seen.sum(0).float().expand(80, 100)
    for name, s in ("most popular items", popular), ("factorization", scores):
        print(f"{name}: recall@10 {recall_at_k(s, seen, held_out, 10):.2f}")
