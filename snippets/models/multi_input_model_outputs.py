"""A model with two outputs: a class and a number, from shared features."""

import torch
from torch import nn


class ClassAndAge(nn.Module):
    """(N, columns) to class logits (N, classes) and an age (N,)."""

    def __init__(self, columns, classes):
        super().__init__()
        self.shared = nn.Sequential(nn.Linear(columns, 32), nn.ReLU())
        self.classify = nn.Linear(32, classes)
        self.regress = nn.Linear(32, 1)

    def forward(self, x):
        h = self.shared(x)
        return {"label": self.classify(h), "age": self.regress(h)[:, 0]}


if __name__ == "__main__":
    x, label, age = (
        torch.randn(4, 3),
        torch.tensor([0, 1, 1, 0]),
        torch.ones(4),
    )
    model = ClassAndAge(columns=3, classes=2)
    out = model(x)
    label_loss = nn.functional.cross_entropy(out["label"], label)
    age_loss = nn.functional.mse_loss(out["age"], age)
    (label_loss + 0.1 * age_loss).backward()  # 0.1: set it for your losses
    print({name: tuple(tensor.shape) for name, tensor in out.items()})
