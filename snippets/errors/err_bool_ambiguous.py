"""Ask about all elements or about any; choose for each element with where."""

import torch

x = torch.tensor([-1.0, 2.0, 3.0])  # (N,)
try:
    bool(x > 0)  # what an if asks
except RuntimeError as error:
    print("error:", error)

positive = bool((x > 0).all())  # of all elements; or .any()
inside = (x > 0) & (x < 2.5)  # not: 0 < x < 2.5, and not: and
y = torch.where(x > 0, x, 0.1 * x)  # for each element; not: if and else

print(positive, inside.tolist(), y)
