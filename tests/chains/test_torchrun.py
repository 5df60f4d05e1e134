"""torchrun with two and three processes; the file it leaves, loaded by one."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch import nn

from tests.chains.pasted import load
from tests.helpers import ROOT

SNIPPET = ROOT / "snippets" / "distributed" / "ddp_single_node.py"
# Under load, a thread of gloo may abort a process that has done all its work.
ABORTED = "terminate called without an active exception"


@pytest.mark.parametrize("processes", [2, 3])
def test_the_file_of_several_processes_serves_one(processes, tmp_path):
    torchrun = Path(sys.executable).with_name("torchrun")
    options = ["--standalone", f"--nproc-per-node={processes}"]
    environment = {**os.environ, "CUDA_VISIBLE_DEVICES": "", "OMP_NUM_THREADS": "1"}
    for _ in range(3):
        done = subprocess.run(
            [torchrun, *options, SNIPPET],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        if ABORTED not in done.stderr:
            break
    assert done.returncode == 0, done.stderr
    losses = [float(line.rpartition(" ")[2]) for line in done.stdout.splitlines()]
    assert len(losses) == 5
    assert losses[-1] < 0.5 * losses[0]

    (file,) = tmp_path.rglob("*.pt")
    checkpoint = load(file)
    assert checkpoint["epoch"] == 4
    model = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 2))
    model.load_state_dict(checkpoint["model_state_dict"])
    x = torch.randn(500, 2, generator=torch.Generator().manual_seed(1))
    hits = model(x).argmax(1) == (x.norm(dim=1) > 1.2).long()
    assert hits.float().mean() > 0.9
