"""Measure how many batches a DataLoader reads in a second."""

import time

import torch
from torch.utils.data import DataLoader, Dataset


class SlowFiles(Dataset):
    """Samples that wait 5 ms each, as for a disk; yours goes here."""

    def __len__(self):
        return 320

    def __getitem__(self, index):
        time.sleep(0.005)
        return torch.zeros(3, 8, 8), index


def batches_per_second(loader):
    """Read a whole epoch and do nothing with its batches."""
    start = time.perf_counter()
    count = sum(1 for _ in loader)
    return count / (time.perf_counter() - start)


if __name__ == "__main__":
    dataset = SlowFiles()
    loader = DataLoader(
        dataset,
        batch_size=32,
        shuffle=True,  # False for validation
        num_workers=2,  # double it while that helps; 0: the model waits
        pin_memory=torch.cuda.is_available(),  # then to(non_blocking=True)
        persistent_workers=True,
        prefetch_factor=4,
    )
    slow = batches_per_second(DataLoader(dataset, batch_size=32))
    indices = [i for _, y in loader for i in y.tolist()]  # starts workers
    assert sorted(indices) == list(range(320))  # each once
    fast = batches_per_second(loader)
    print(f"2 workers: {fast / slow:.1f} times as fast")
