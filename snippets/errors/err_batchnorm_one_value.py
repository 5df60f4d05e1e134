"""Raise the error of a batch of one, then train and predict without it."""

import torch
from torch import nn
from torch.utils.data import DataLoader

model = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU())
dataset, batch_size = torch.randn(9, 4), 4
try:
    for x in DataLoader(dataset, batch_size):  # 4 + 4 + 1 samples
        model(x)
except ValueError as error:
    print("error:", error)

# Training: leave the last, smaller batch out.
loader = DataLoader(dataset, batch_size, shuffle=True, drop_last=True)
for x in loader:
    print("train:", model(x).shape)

# Prediction: one sample is fine, with the averages from training.
model.eval()
print("predict:", model(dataset[:1]).shape)
