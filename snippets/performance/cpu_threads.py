"""Set how many CPU threads one operation may use."""

import os
import subprocess
import sys

import torch

torch.set_num_threads(1)  # this process, from here on
print("here:", torch.get_num_threads())

# From outside, as the shell sets it: OMP_NUM_THREADS=1 python ...
code = "import torch; print(torch.get_num_threads())"
child = subprocess.run(
    [sys.executable, "-c", code],
    env={**os.environ, "OMP_NUM_THREADS": "1"},
    capture_output=True,
    text=True,
    check=True,
)
print("child:", child.stdout.strip())
