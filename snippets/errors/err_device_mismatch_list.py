"""Count the parameters and buffers of a model on each device."""

from collections import Counter
from itertools import chain

from torch import nn

model = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4, device="meta"))
tensors = chain(model.parameters(), model.buffers())
print(Counter(str(tensor.device) for tensor in tensors))
