"""Give every DataLoader worker random numbers of its own."""

import numpy as np
from torch.utils.data import DataLoader, Dataset, get_worker_info


class Noise(Dataset):
    """Eight samples of noise, from a generator made once."""

    def __init__(self):
        self.rng = np.random.default_rng(0)  # copied into each worker

    def __len__(self):
        return 8

    def __getitem__(self, index):
        return self.rng.random()


def seed_worker(worker_id):
    """Replace the copied generator; torch has seeded the rest."""
    info = get_worker_info()  # info.seed: new per worker and epoch
    info.dataset.rng = np.random.default_rng(info.seed)


if __name__ == "__main__":
    dataset = Noise()
    copied = DataLoader(dataset, num_workers=2)
    loader = DataLoader(dataset, num_workers=2, worker_init_fn=seed_worker)
    for name, each in (("copied", copied), ("seeded", loader)):
        drawn = {x.item() for _ in range(2) for x in each}  # 2 epochs
        print(f"{name}: {len(drawn)} different numbers of 16")
