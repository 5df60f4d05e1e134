"""Bring the input of a model to the device and the dtype of its weights."""

import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Sequential(nn.Conv2d(3, 8, 3, bias=False), nn.ReLU())
model, x = model.half(), torch.rand(2, 3, 16, 16)  # float16, float32
try:
    model(x)
except RuntimeError as error:
    print("error:", str(error).partition(" or input")[0])

model = model.to(device)
x = x.to(device)  # assign: x itself stays
w = next(model.parameters())
x = x.to(w.dtype)  # if the dtypes differ
print(w.dtype, x.dtype, model(x).dtype)
