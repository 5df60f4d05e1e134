"""Save weights so that PyTorch 1.4 or older, or NumPy alone, reads them."""

import zipfile
from collections.abc import Mapping

import numpy as np
import torch
from torch import nn


def portable(state: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Return the state on the CPU, in types that NumPy and torch 1.1 know.

    bfloat16 becomes float32 (exactly); every other type stays as it is.
    """
    return {
        name: (t.float() if t.dtype == torch.bfloat16 else t).detach().cpu()
        for name, t in state.items()
    }


def save_legacy(state: Mapping[str, torch.Tensor], path: str) -> None:
    """Write a state dict in the format that torch.save had until 1.5.

    Every release since 0.4 reads it with torch.load(path).

    Source: https://docs.pytorch.org/docs/stable/generated/torch.save.html
    """
    torch.save(portable(state), path, _use_new_zipfile_serialization=False)


def save_npz(state: Mapping[str, torch.Tensor], path: str) -> None:
    """Write a state dict as NumPy arrays, which need no torch at all.

    Args:
        path: ends in .npz, else NumPy adds it.

    Raises:
        TypeError: a tensor is of a type NumPy lacks, such as float8.
    """
    np.savez(path, **{name: t.numpy() for name, t in portable(state).items()})


if __name__ == "__main__":
    torch.manual_seed(0)
    state = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4)).state_dict()
    save_legacy(state, "legacy.pth")
    save_npz(state, "weights.npz")
    torch.save(state, "default.pth")

    legacy = torch.load("legacy.pth", weights_only=True)
    with np.load("weights.npz") as arrays:
        from_npz = {name: torch.from_numpy(a) for name, a in arrays.items()}
    torch.testing.assert_close(legacy, dict(state), rtol=0, atol=0)
    torch.testing.assert_close(from_npz, dict(state), rtol=0, atol=0)
    for path in ("default.pth", "legacy.pth"):
        print(path, "is a zip file:", zipfile.is_zipfile(path))
