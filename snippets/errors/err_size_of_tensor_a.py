"""Compare two shapes from the right, and give a vector its dimension."""

import torch

torch.manual_seed(0)
x = torch.randn(2, 3, 4, 4)  # (B, C, H, W)
gain = torch.tensor([1.0, 2.0, 3.0])  # (C,)
try:
    x * gain
except RuntimeError as error:
    print("error:", error)

print(f"{[*x.shape]!s:>20}\n{[*gain.shape]!s:>20}")  # per column: equal, or 1
y = x * gain[:, None, None]  # (C, 1, 1): the third dimension from the right

assert y.shape == x.shape
assert torch.equal(y[:, 2], 3 * x[:, 2])
