"""Measure how many samples a DataLoader reads in a second."""

import time

import torch
from torch.utils.data import DataLoader, Dataset


class SlowFiles(Dataset):
    """Samples that wait 10 ms each, as for a disk; yours goes here."""

    def __len__(self):
        return 96

    def __getitem__(self, index):
        time.sleep(0.01)
        return torch.zeros(3, 8, 8), index


def samples_per_second(loader):
    """Read a whole epoch of batches (x, y) and do nothing with them."""
    start = time.perf_counter()
    count = sum(len(y) for _, y in loader)
    return count / (time.perf_counter() - start)


if __name__ == "__main__":
    dataset = SlowFiles()
    loader = DataLoader(
        dataset,
        batch_size=8,
        num_workers=2,  # the default 0 reads while the model waits
        pin_memory=torch.accelerator.is_available(),
        persistent_workers=True,
        prefetch_factor=4,
    )
    slow = samples_per_second(DataLoader(dataset, batch_size=8))
    samples_per_second(loader)  # the first epoch starts the workers
    ratio = samples_per_second(loader) / slow
    print("2 workers read faster:", ratio > 1.3)
