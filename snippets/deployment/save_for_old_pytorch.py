"""Save weights so that PyTorch 1.4 or older, or NumPy alone, reads them."""

import zipfile

import numpy as np
import torch
from torch import nn

model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4))

state = {key: value.cpu() for key, value in model.state_dict().items()}
torch.save(state, "legacy.pth", _use_new_zipfile_serialization=False)
arrays = {key: value.numpy() for key, value in state.items()}
np.savez("weights.npz", **arrays)  # read it without any torch

legacy = torch.load("legacy.pth", weights_only=True)
torch.testing.assert_close(legacy, state, rtol=0, atol=0)
with np.load("weights.npz") as file:
    from_npz = {key: torch.from_numpy(file[key]) for key in file}
torch.testing.assert_close(from_npz, state, rtol=0, atol=0)
print("legacy.pth is a zip file:", zipfile.is_zipfile("legacy.pth"))
