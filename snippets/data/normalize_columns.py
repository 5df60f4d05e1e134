"""Standardise the columns of a table in the model, by the training rows."""

import torch
from torch import nn


class Standardize(nn.Module):
    """(N, D): each column minus its mean, divided by its std."""

    def __init__(self, x_train):
        super().__init__()
        constant = x_train.amin(0) == x_train.amax(0)
        std = x_train.std(0, correction=0).masked_fill(constant, 1)
        self.register_buffer("mean", x_train.mean(0))  # saved and moved
        self.register_buffer("std", std)

    def forward(self, x):
        return (x - self.mean) / self.std

    def inverse(self, z):
        return z * self.std + self.mean


if __name__ == "__main__":
    x = torch.tensor(
        [[1.5, 3e4, 1], [2.0, 5e4, 1], [1.0, 7e4, 1], [1.7, 6e4, 1]]
    )  # metres, euros, a constant
    x_train, x_val = x[:3], x[3:]

    model = nn.Sequential(
        Standardize(x_train),
        nn.Linear(x_train.shape[1], 1),  # your layers
    )
    print(model[0](x_train).T)
    torch.save(model.state_dict(), "model.pt")

    empty = torch.zeros(1, 3)  # numbers that the file replaces
    again = nn.Sequential(Standardize(empty), nn.Linear(3, 1))
    again.load_state_dict(torch.load("model.pt", weights_only=True))
    assert torch.equal(again(x_val), model(x_val))
    raw = again[0].inverse(again[0](x_val))
    torch.testing.assert_close(raw, x_val)
