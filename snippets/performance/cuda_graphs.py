"""Run a model with small batches through CUDA graphs, by torch.compile."""

import torch
from torch import nn

device = torch.accelerator.current_accelerator(
    check_available=True
) or torch.device("cpu")  # on a CPU there is no graph, and the same result
layers = [nn.Linear(16, 16) for _ in range(8)]  # eight small kernels
model = nn.Sequential(*layers).to(device).eval()
batches = torch.randn(5, 8, 16, device=device)

outputs = []
compiled = torch.compile(model, mode="reduce-overhead")
with torch.no_grad():
    for x in batches:  # always of one size
        outputs.append(compiled(x).clone())  # the next call overwrites it

    torch.testing.assert_close(torch.stack(outputs), model(batches))
