"""Recommend items to users: matrix factorization trained with BPR."""

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset


def bpr_loss(model, user, item, seen):  # ids (B,), (B,); bool (U, I)
    """Let an item of the user score above a sample of the others."""
    other = torch.randint(seen.shape[1], item.shape, device=item.device)
    margin = model(user, item) - model(user, other)  # (B,)
    return -(F.logsigmoid(margin) * ~seen[user, other]).mean()


class MatrixFactorization(nn.Module):
    """Score of a pair: dot product of two vectors, and a bias per item."""

    def __init__(self, users, items, dim):
        super().__init__()
        self.user = nn.Embedding(users, dim)
        self.item = nn.Embedding(items, dim)
        self.bias = nn.Embedding(items, 1)  # how popular the item is
        for table in (self.user, self.item, self.bias):
            nn.init.normal_(table.weight, std=0.1)

    def forward(self, user, item):  # ids (B,), (B,) -> (B,)
        dot = (self.user(user) * self.item(item)).sum(-1)
        return dot + self.bias(item).squeeze(-1)

    def scores(self, user):  # ids (B,) -> (B, I): all items
        return self.user(user) @ self.item.weight.T + self.bias.weight.T


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

    model = MatrixFactorization(80, 100, dim=8)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(20):
        for user, item in loader:
            loss = bpr_loss(model, user, item, seen)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    scores = model.scores(torch.arange(80)).detach()
    print(f"recall@10: {recall_at_k(scores, seen, held_out, 10):.2f}")
