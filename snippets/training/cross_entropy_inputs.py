"""Give the cross entropy raw logits and the index of each true class."""

import torch
from torch import nn
from torch.nn import functional as F

x, target = torch.randn(4, 8), torch.tensor([0, 2, 1, 2])
model = nn.Linear(8, 3)

loss_fn = nn.CrossEntropyLoss()
logits = model(x)  # (N, C), no softmax
loss = loss_fn(logits, target)  # target: (N,), int64, 0 … C - 1

# Labels as files and loaders often give them, and how to convert them.
column = target.view(4, 1).float()  # (N, 1), floats
one_hot = F.one_hot(target)  # (N, C), int64
torch.testing.assert_close(loss_fn(logits, column.squeeze(1).long()), loss)
torch.testing.assert_close(loss_fn(logits, one_hot.argmax(1)), loss)

right = 100 * one_hot.float()  # logits of a model that is certain and right
print(f"logits {loss_fn(right, target):.2f}")
print(f"softmax first {loss_fn(right.softmax(1), target):.2f}")
