"""Find the line whose backward gives NaN, and mend it."""

import torch

w = torch.zeros(2, requires_grad=True)
try:
    with torch.autograd.set_detect_anomaly(True):
        loss = torch.where(w > 0, w.sqrt(), 0.0).sum()
        loss.backward()  # a warning shows the line above
except RuntimeError as error:
    print(error)

safe = torch.where(w > 0, w, 1.0)  # no 0 gets into sqrt
loss = torch.where(w > 0, safe.sqrt(), 0.0).sum()
loss.backward()
print(w.grad)
