"""Compile a model, warm it up, and check that it computes the same."""

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(64, 128), nn.GELU(), nn.Linear(128, 10))
x = torch.randn(32, 64)

model.eval()
compiled = torch.compile(model, fullgraph=True)  # returns at once
with torch.no_grad():
    compiled(x)  # the first call compiles, for seconds
    torch.testing.assert_close(compiled(x), model(x))

    with torch.compiler.set_stance("fail_on_recompile"):
        compiled(torch.randn(32, 64))  # the same shape: no new code

print("keys", *list(compiled.state_dict())[:2])
