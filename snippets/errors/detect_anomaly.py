"""Find the line whose backward gives NaN, and mend it."""

import torch
from torch import nn

w, eps = torch.zeros(2, requires_grad=True), 0.0
loss_fn, x, y = nn.MSELoss(), torch.ones(2), torch.zeros(2)


def model(x):
    """Return a root: that of 0 has the gradient inf."""
    return (w * x + eps).sqrt()  # a warning shows this line


torch.autograd.set_detect_anomaly(True)  # slow: remove it afterwards

try:
    loss_fn(model(x), y).backward()
except RuntimeError as error:
    print(error)

eps = 1e-6  # mended: no root of 0
loss_fn(model(x), y).backward()
print(w.grad)
