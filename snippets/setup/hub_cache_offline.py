"""Load pretrained weights from a file carried by hand, with no network."""

import os
import tempfile
from pathlib import Path

import torch
from torch.hub import get_dir  # noqa: TID251
from torchvision.models import ResNet18_Weights, resnet18

# A machine without network, to which somebody has carried the file.
folder = Path(tempfile.mkdtemp(), "hub", "checkpoints")
folder.mkdir(parents=True)
carried = resnet18().state_dict()
torch.save(carried, folder / "resnet18-f37072fd.pth")
os.environ["TORCH_HOME"] = str(folder.parents[1])  # default: ~/.cache/torch

weights = ResNet18_Weights.DEFAULT
file = Path(get_dir(), "checkpoints", Path(weights.url).name)
print(f"{weights.url}\nbelongs to {file}")  # carry it there by hand
model = resnet18(weights=weights)  # then nothing is downloaded

assert torch.equal(model.state_dict()["fc.bias"], carried["fc.bias"])
