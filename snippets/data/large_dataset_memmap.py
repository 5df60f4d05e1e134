"""Read samples from an array on the disk that is larger than the RAM."""

import pickle
import tempfile
from pathlib import Path

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset


class MemmapDataset(Dataset):
    """The rows of a .npy file; each worker opens it for itself."""

    def __init__(self, path):
        self.path, self.array = path, None
        self.length = len(np.load(path, mmap_mode="r"))  # reads the header

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        if self.array is None:  # the first sample in this process
            self.array = np.load(self.path, mmap_mode="r")
        return torch.tensor(self.array[index])  # copies this row only

    def __getstate__(self):  # what a worker is sent: not the array
        return self.__dict__ | {"array": None}


if __name__ == "__main__":
    path = Path(tempfile.mkdtemp(), "x.npy")
    array = np.lib.format.open_memmap(path, "w+", np.float32, (1000, 64))
    for start in range(0, 1000, 100):  # write it in parts, too
        array[start : start + 100] = np.arange(start, start + 100)[:, None]
    array.flush()

    loader = DataLoader(MemmapDataset(path), 32, shuffle=True, num_workers=2)
    assert loader.dataset[0].shape == (64,)  # opens the file here, too
    assert len(pickle.dumps(loader.dataset)) < 1000  # as for a worker
    mean = torch.cat(list(loader)).mean()
    print(f"{len(loader)} batches, mean {mean:.1f}")
