"""Give every DataLoader worker a NumPy generator of its own."""

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset


class Noise(Dataset):
    """Yours; here, eight samples of noise."""

    def __init__(self):
        self.seed = self.rng = None

    def __len__(self):
        return 8

    def __getitem__(self, index):
        if self.seed != torch.initial_seed():  # new worker or epoch
            self.seed = torch.initial_seed()
            self.rng = np.random.default_rng(self.seed)
        return self.rng.random()  # your sample, augmented by self.rng


class Copied(Noise):
    """The same with a generator made once, which each worker copies."""

    def __init__(self):
        self.rng = np.random.default_rng(0)

    def __getitem__(self, index):
        return self.rng.random()


if __name__ == "__main__":
    for dataset in Copied(), Noise():
        loader = DataLoader(dataset, num_workers=2)
        drawn = {x.item() for _ in range(2) for x in loader}  # 2 epochs
        name = type(dataset).__name__
        print(f"{name}: {len(drawn)} different numbers out of 16")
