"""Export a model to a file that runs without its class, at any batch size."""

import torch
from torch import nn
from torch.export import Dim

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))

program = torch.export.export(
    model.eval(),  # the mode stays as it is now
    (torch.randn(2, 8),),  # yours: an example batch of two or more
    dynamic_shapes=({0: Dim("batch")},),  # any size there
)
torch.export.save(program, "model.pt2")

# Elsewhere: it needs PyTorch, but not the code of the model.
loaded = torch.export.load("model.pt2").module()
with torch.inference_mode():
    for N in 1, 2, 7:
        x = torch.randn(N, 8)
        torch.testing.assert_close(loaded(x), model(x))
