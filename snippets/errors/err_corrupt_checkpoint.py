"""Raise the errors of broken files, and show how each file looks."""

import os
from pathlib import Path

import torch

weights = torch.nn.Linear(256, 256).state_dict()
torch.save(weights, "cut.pt")
os.truncate("cut.pt", 200_000)  # as when a download stops
Path("pointer.pt").write_text("version https://git-lfs.github.com/spec/v1")
Path("page.pt").write_text("<!DOCTYPE html><html>Please log in</html>")
Path("empty.pt").touch()
for name in ("cut.pt", "pointer.pt", "page.pt", "empty.pt"):
    try:
        torch.load(name, weights_only=True)
    except Exception as error:
        reason = str(error).split("error:")[-1].split()
        print(type(error).__name__, *reason[:3])
    path = Path(name)
    with path.open("rb") as file:
        print(path.stat().st_size, file.read(20))

torch.save(weights, "last.tmp")
Path("last.tmp").replace("last.pt")  # never half a file
