"""Keep the newest checkpoints only: delete the older ones."""

from pathlib import Path

import torch
from torch import nn


def save_rotating(checkpoint, folder, keep=3):
    """Write step….pt, whole or not at all; keep the newest `keep` files."""
    path = Path(folder) / f"step{checkpoint['step']:08}.pt"
    path.parent.mkdir(parents=True, exist_ok=True)
    tmp = path.with_name("step.tmp")  # one name: a kill leaves one at most
    torch.save(checkpoint, tmp)
    tmp.replace(path)  # atomic: never half a file
    for old in sorted(path.parent.glob("step*.pt"))[:-keep]:
        old.unlink()


if __name__ == "__main__":
    model = nn.Linear(1, 1)
    for step in range(0, 500, 100):
        states = {"step": step, "model_state_dict": model.state_dict()}
        save_rotating(states, "checkpoints/run1")
    print(*sorted(path.name for path in Path("checkpoints/run1").iterdir()))
