"""See which torch is imported; take a newer name only where it is there."""

import torch

print("from", torch.__file__)  # site-packages, or a file of your own?
print("torch", torch.__version__)  # is it as new as the name?
optimizer_class = torch.optim.AdamW
if hasattr(torch.optim, "Muon"):  # since 2.9
    optimizer_class = torch.optim.Muon

assert issubclass(optimizer_class, torch.optim.Optimizer)
