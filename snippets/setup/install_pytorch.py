"""Check a new installation: the Python, the build, and that it computes."""

import sys

import torch

print("Python", sys.executable)  # the one that pip has to install into
print("torch", torch.__version__, "with CUDA", torch.version.cuda)

mps = "mps" if torch.backends.mps.is_available() else "cpu"  # a Mac's GPU
device = "cuda" if torch.cuda.is_available() else mps
x = torch.ones(3, 3, device=device)
assert (x @ x).sum().item() == 27
print("computes on", device)
