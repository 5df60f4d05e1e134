"""Look at the range of ids and labels, then mend the table or the labels."""

import torch
from torch import nn
from torch.nn import functional as F

ids = torch.tensor([[0, 4, 10]])  # numbers of words
y = torch.tensor([1, 2, 3])  # three classes, counted from 1
mask = torch.tensor([[0, 2, 255]])  # (N, L); 255: no label
logits, scores = torch.zeros(3, 3), torch.zeros(1, 3, 3)
try:
    nn.Embedding(10, 4)(ids)
except IndexError as error:
    print("embedding:", error)
try:
    F.cross_entropy(logits, y)
except IndexError as error:
    print("labels:", error)

print(ids.min(), ids.max())  # 0 to rows - 1
embed = nn.Embedding(11, 4)  # max + 1 rows
print(y.unique(), logits.shape)  # 0 to C - 1
loss = F.cross_entropy(logits, y - 1)
ce = nn.CrossEntropyLoss(ignore_index=255)
print(embed(ids).shape, loss, ce(scores, mask))
