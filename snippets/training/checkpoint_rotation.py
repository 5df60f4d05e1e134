"""Keep the newest checkpoints only: delete the older ones."""

from pathlib import Path
from tempfile import TemporaryDirectory

import torch
from torch import nn


def save_rotating(checkpoint, folder, keep=3):
    """Write step….pt, whole or not at all; keep the newest `keep` (0: all)."""
    path = Path(folder) / f"step{checkpoint['step']:08}.pt"
    path.parent.mkdir(parents=True, exist_ok=True)
    tmp = path.with_name("step.tmp")  # one name: a kill leaves one at most
    torch.save(checkpoint, tmp)
    tmp.replace(path)  # atomic: never half a file
    files = sorted(path.parent.glob("step*.pt"))
    if files[-1] != path:
        raise RuntimeError(f"{files[-1]} is of a later step: another run?")
    for old in files[:-keep]:
        old.unlink()


if __name__ == "__main__":
    model = nn.Linear(1, 1)
    with TemporaryDirectory() as folder:  # yours: "checkpoints/run1"
        for step in range(0, 500, 100):
            states = {"step": step, "model_state_dict": model.state_dict()}
            save_rotating(states, folder)
        print(*sorted(path.name for path in Path(folder).iterdir()))
