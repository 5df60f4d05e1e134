"""Raise the error of a missing C++ compiler, then run without compiling."""

import torch
from torch import nn
from torch._inductor import config

model = nn.Sequential(nn.Linear(4, 8), nn.GELU())
x = torch.randn(2, 4)
with config.patch({"cpp.cxx": (None, "g++-missing")}):  # as if not installed
    try:
        torch.compile(model)(x)
    except RuntimeError as error:
        print("error:", str(error).partition("\n")[0])

graph = torch.compile(model, backend="aot_eager")  # traced, not compiled
torch.testing.assert_close(graph(x), model(x))
plain = torch.compile(model, disable=True)  # neither: for this machine
print("runs:", torch.equal(plain(x), model(x)))
