"""Compare two tensors, with room for rounding or exactly."""

import torch
from torch import nn
from torch.testing import assert_close

torch.manual_seed(0)
model, x = nn.Linear(512, 128), torch.randn(64, 512)
with torch.no_grad():
    a = torch.cat([model(row) for row in x.split(1)])
    b = model(x)  # the same sums, perhaps in another order

# Where to start for float32 outputs of a network.
assert_close(a, b, rtol=1e-4, atol=1e-4)  # for a test: raises if not close
close = torch.allclose(a, b, rtol=1e-4, atol=1e-4)  # True or False
worst = (a - b).abs().max()  # largest difference; uint8, bool: .int() first
same = torch.equal(a, b)  # each value exactly: integers, bool, copies

print("close:", close, "within 1e-5:", worst.item() < 1e-5)
assert same == (worst == 0)
