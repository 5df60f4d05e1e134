"""See what torch can do without NumPy, then check that it finds NumPy here."""

import subprocess
import sys

import torch

WITHOUT_NUMPY = """
import sys
sys.modules["numpy"] = None  # as if it were missing or did not fit
import torch
x = torch.ones(2)
try:
    x.numpy()
except RuntimeError as error:
    print("error:", error)
print("without NumPy:", x.tolist())
"""
command = [sys.executable, "-W", "ignore", "-c", WITHOUT_NUMPY]
child = subprocess.run(command, capture_output=True, text=True, check=True)
print(child.stdout, end="")

print("here:", torch.ones(2).numpy())  # no error: the two fit
