"""Give every DataLoader worker a NumPy generator of its own."""

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset


class WorkerRng:
    """A base: `class MyDataset(WorkerRng, Dataset)`; draw with `self.rng`."""

    _seed = None

    @property
    def rng(self):
        if self._seed != torch.initial_seed():  # new worker or epoch
            self._seed = torch.initial_seed()
            self._rng = np.random.default_rng(self._seed)
        return self._rng


class Noise(WorkerRng, Dataset):
    """Yours; here, eight samples of noise."""

    def __len__(self):
        return 8

    def __getitem__(self, index):
        return self.rng.random()


class Copied(Noise):
    """The same with a generator made once, which each worker copies."""

    rng = None  # not that of WorkerRng

    def __init__(self):
        self.rng = np.random.default_rng(0)


if __name__ == "__main__":
    for dataset in Copied(), Noise():
        loader = DataLoader(dataset, num_workers=2)
        drawn = {x.item() for _ in range(2) for x in loader}  # 2 epochs
        name = type(dataset).__name__
        print(f"{name}: {len(drawn)} different numbers out of 16")
