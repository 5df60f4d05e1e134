"""Save tensors in a file, and load them on any machine."""

from pathlib import Path

import numpy as np
import torch

x = torch.randn(1000, 300)  # of any shape
y = torch.arange(1000)

torch.save({"x": x, "y": y}, "data.pt")  # or one tensor, or a list
data = torch.load("data.pt", map_location="cpu", weights_only=True)

np.save("x.npy", x.numpy(force=True))  # for NumPy and other programs
back = torch.from_numpy(np.load("x.npy"))

torch.save(x[:10], "view.pt")  # the file holds all 1000 rows
torch.save(x[:10].clone(), "ten.pt")  # clone: only these ten

assert torch.equal(data["x"], x)
assert torch.equal(back, x)
for name in ("view.pt", "ten.pt"):
    print(f"{name}: {Path(name).stat().st_size / 1e6:.2f} MB")
