"""See the plain error behind the one that torch.compile raises."""

import torch
from torch import nn

model = nn.Conv2d(3, 8, kernel_size=3)
batch = torch.randn(4, 1, 28, 28)  # yours: the one that fails; here grayscale
compiled = torch.compile(model)
try:
    compiled(batch)
except RuntimeError as error:
    print(
        "compiled: ... got", str(error).partition(" got ")[2].splitlines()[0]
    )

torch.compiler.set_stance("force_eager")  # from here on nothing is compiled
try:
    compiled(batch)
except RuntimeError as error:
    print("plain:", error)
