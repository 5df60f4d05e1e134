"""Tie the weights of the embedding and the output layer: one Parameter."""

import torch
from torch import nn


class LanguageModel(nn.Module):
    """Token ids (B, T) to logits (B, T, V)."""

    def __init__(self, vocabulary, width):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)  # weight (V, D)
        self.head = nn.Linear(width, vocabulary, bias=False)  # also (V, D)
        self.head.weight = self.embedding.weight  # the same Parameter
        nn.init.normal_(self.embedding.weight, std=0.02)  # else huge logits

    def forward(self, ids):
        return self.head(self.embedding(ids))


if __name__ == "__main__":
    model = LanguageModel(1000, 64)
    optimizer = torch.optim.AdamW(model.parameters())
    assert len(optimizer.param_groups[0]["params"]) == 1  # updated once
    torch.save(model.state_dict(), "model.pt")  # two names, one memory

    loaded = LanguageModel(1000, 64)  # __init__ ties the weights again
    loaded.load_state_dict(torch.load("model.pt", weights_only=True))
    assert loaded.head.weight is loaded.embedding.weight
    ids = torch.randint(1000, (2, 8))
    assert torch.equal(loaded(ids), model(ids))
