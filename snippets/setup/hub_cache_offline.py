"""Load pretrained weights from a file carried by hand, with no network."""

import os
import tempfile
from pathlib import Path

import torch
from torch import nn
from torch.hub import get_dir, load_state_dict_from_url  # noqa: TID251

disk = Path(tempfile.mkdtemp())  # in real code, a folder that you keep
os.environ["TORCH_HOME"] = str(disk / "torch")  # default: ~/.cache/torch
cache = Path(get_dir()) / "checkpoints"
cache.mkdir(parents=True)

# The file keeps the name that it has in its address.
torch.save(nn.Linear(4, 2).state_dict(), cache / "tiny-1a2b3c4d.pth")
url = "https://example.com/models/tiny-1a2b3c4d.pth"
weights = load_state_dict_from_url(url, weights_only=True)  # no download

url = (cache / "tiny-1a2b3c4d.pth").as_uri()  # file:///..., from any folder
copied = load_state_dict_from_url(url, disk / "used", weights_only=True)
print(list(weights), torch.equal(copied["bias"], weights["bias"]))
