"""Allow only operations that repeat bit by bit on this machine."""

import torch

torch.use_deterministic_algorithms(True)  # slower; some operations raise
torch.backends.cudnn.benchmark = False

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
values = torch.randn(100_000, device=device)
index = torch.randint(10, (100_000,), device=device)
first = torch.zeros(10, device=device).index_add(0, index, values)
again = torch.zeros(10, device=device).index_add(0, index, values)
assert torch.equal(first, again)  # the same bits
