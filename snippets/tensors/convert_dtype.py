"""Convert the dtype of tensors, to what layers and losses expect."""

import torch
from torch import nn
from torch.nn import functional as F

model = nn.Linear(4, 3)  # float32, the default
x = torch.full((2, 4), 0.1, dtype=torch.float64)  # NumPy's default
y = torch.tensor([0.0, 2.0])  # class labels, read from a CSV file

single = x.float()  # float32: most models
half = x.half()  # float16
bf16 = x.to(torch.bfloat16)  # any dtype
y = y.long()  # int64: class labels, indices
x = x.to(next(model.parameters()).dtype)  # the model's own

loss = F.cross_entropy(model(x), y)  # raises for a wrong dtype
for tensor in single, half, bf16, y, x:
    print(tensor.dtype, tensor.flatten()[0].item())
