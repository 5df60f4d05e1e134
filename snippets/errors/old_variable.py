"""Bring training code written for PyTorch 0.3 up to date."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
model, x, y = nn.Linear(4, 3), torch.randn(8, 4), torch.randint(3, (8,))
loss = F.cross_entropy(model(x), y)
try:
    print(loss.data[0])
except IndexError as error:
    print(f"IndexError: {error}")

value = loss.item()  # a Python number; not: loss.data[0]

with torch.no_grad():  # not: volatile=True
    probs = F.softmax(model(x), dim=1)  # not: F.softmax(model(x))
device = "cuda" if torch.cuda.is_available() else "cpu"
model, x, y = model.to(device), x.to(device), y.to(device)  # not: .cuda()
loss = F.cross_entropy(model(x), y, reduction="sum")  # not: size_average

print(f"mean {value:.4f}, sum {loss.item():.4f} of {len(x)} samples")
assert not probs.requires_grad
