"""Ask about all elements or about any; choose for each element with where."""

import torch

x = torch.tensor([-1.0, 2.0, 3.0])  # (N,)
try:
    bool(x > 0)  # what an if asks
except RuntimeError as error:
    print("error:", error)

positive = bool((x > 0).all())  # True if all are; or .any()
inside = (x > 0) & (x < 2.5)  # instead of 0 < x < 2.5, or `and`
y = torch.where(x > 0, x, 0.1 * x)  # per element, instead of if/else

print(positive, inside.tolist(), y)
