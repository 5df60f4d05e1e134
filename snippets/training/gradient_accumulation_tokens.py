"""Accumulate over batches with unequal counts of labels, as one batch."""

import itertools

import torch
from torch import nn

torch.manual_seed(0)
x_all, y_all = torch.randn(24, 7, 8), torch.randint(5, (24, 7))  # (N, T)
y_all[torch.rand(24, 7) < 0.4] = -100  # padding: ignored by the loss
loader = zip(x_all.split(2), y_all.split(2), strict=True)  # it has no length
model = nn.Linear(8, 5)
loss_fn = nn.CrossEntropyLoss(reduction="sum")  # not the mean
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

steps, batches = 4, iter(loader)
while group := list(itertools.islice(batches, steps)):
    count = sum((y != -100).sum() for _, y in group).clamp(min=1)
    for x, y in group:
        loss = loss_fn(model(x).flatten(0, 1), y.flatten()) / count
        loss.backward()
    optimizer.step()
    optimizer.zero_grad()

print("a mean over", count.item(), "labels in the last group")
