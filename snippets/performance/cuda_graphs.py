"""Run a model with small batches through CUDA graphs, by torch.compile."""

import torch
from torch import nn

# On a CPU there is no graph, and the same result.
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
layers = [nn.Linear(16, 16) for _ in range(8)]  # eight small kernels
model = nn.Sequential(*layers).to(device).eval()
batches = torch.randn(5, 8, 16, device=device)

outputs = []
compiled = torch.compile(model, mode="reduce-overhead")
with torch.no_grad():
    for x in batches:  # always of one size
        outputs.append(compiled(x).clone())  # the next call overwrites it

    torch.testing.assert_close(torch.stack(outputs), model(batches))
