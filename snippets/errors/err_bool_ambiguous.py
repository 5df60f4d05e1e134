"""Ask about all elements or about any; combine masks; choose with where."""

import torch

x = torch.tensor([1.0, 2.0, 3.0])  # yours: a tensor of any shape
try:
    bool(x > 0)  # what an if asks
except RuntimeError as error:
    print("error:", error)

if (x > 0).all():  # every element; for at least one: (x > 0).any()
    print("all are positive")

inside = (x > 0) & (x < 2.5)  # instead of 0 < x < 2.5, or `and`
y = torch.where(x > 2, x, 0.1 * x)  # per element, instead of if/else

print(inside.tolist(), y)
