"""TODO: say in one sentence what this is for."""

import torch

x = torch.tensor([1.0, 2.0])  # (N,)
y = 2 * x  # TODO: replace this by what the reader came for
assert torch.equal(y, x + x)  # TODO: assert or print what it gives
