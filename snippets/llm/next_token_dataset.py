"""Cut tokens into blocks, train on the next token, measure perplexity."""

import math

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset


def next_token_dataset(ids, T):
    """Inputs and targets of T tokens each, from the (N,) ids of a text.

    What is left at the end, fewer than T tokens, is dropped.
    """
    blocks = ids.unfold(0, T + 1, T)  # (n, T + 1)
    return TensorDataset(blocks[:, :-1], blocks[:, 1:])


@torch.no_grad()
def perplexity(model, loader):
    """exp of the mean loss; skips targets of -100, leaves eval() on."""
    model.eval()
    device = next(model.parameters()).device
    total, count = 0.0, 0
    for x, y in loader:
        x, y = x.to(device), y.to(device)
        logits = model(x).flatten(0, 1)  # (B * T, V)
        logits = logits.float()  # a sum in half precision is percents off
        total += F.cross_entropy(logits, y.flatten(), reduction="sum").item()
        count += (y != -100).sum().item()
    return math.exp(total / count)


if __name__ == "__main__":
    torch.manual_seed(0)
    ids = torch.tensor(list(b"to be or not to be, " * 60))  # V = 256
    train_ids, val_ids = ids[:1000], ids[1000:]  # (N,) (N,)
    T = 16  # yours: tokens in a block
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = nn.Sequential(nn.Embedding(256, 32), nn.Linear(32, 256)).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.05)

    dataset = next_token_dataset(train_ids, T)
    loader = DataLoader(dataset, batch_size=8, shuffle=True)
    for x, y in loader:  # both (B, T): y is x, one token later
        x, y = x.to(device), y.to(device)
        loss = F.cross_entropy(model(x).flatten(0, 1), y.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    loader = DataLoader(next_token_dataset(val_ids, T), batch_size=8)
    print(f"perplexity {perplexity(model, loader):.1f}")
