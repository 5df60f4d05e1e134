"""Look at the range of ids and labels, then mend the table or the labels."""

import torch
from torch import nn
from torch.nn import functional as F

embed = nn.Embedding(10, 4)
ids = torch.tensor([[0, 4, 10]])  # numbers of words
logits = torch.zeros(3, 3)  # (N, C)
y = torch.tensor([1, 2, 3])  # (N,), three classes, counted from 1

print(ids.min(), ids.max(), embed.num_embeddings)  # ids: 0 to rows - 1
print(y.unique(), logits.shape)  # labels: 0 to C - 1

embed = nn.Embedding(11, 4)  # max + 1 rows
print(embed(ids).shape, F.cross_entropy(logits, y - 1))
mask = torch.tensor([[0, 2, 255]])  # (N, L); 255: no label
ce = nn.CrossEntropyLoss(ignore_index=255)
print(ce(torch.zeros(1, 3, 3), mask))
