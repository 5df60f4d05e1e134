"""Give inputs, class labels and float targets the dtype that they need."""

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

table = np.array([[5.1, 3.5, 0.0], [6.2, 2.9, 2.0], [4.7, 3.2, 1.0]])
table = torch.from_numpy(table)  # NumPy and pandas: float64
x, y = table[:, :2], table[:, 2]
model = nn.Linear(2, 3)  # float32
try:
    model(x)
except RuntimeError as error:
    print("error:", error)
try:
    F.cross_entropy(model(x.float()), y)
except RuntimeError as error:
    print("error:", error)  # its wording depends on the version

x = x.float()  # inputs: like the weights
labels = y.long()  # cross_entropy: int64
target = y.float()  # BCE, MSE, Huber: float32
print(F.cross_entropy(model(x), labels).dtype)
print(F.huber_loss(model(x)[:, 0], target).dtype)
