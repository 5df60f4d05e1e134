"""Keep what starts processes under the main guard."""

import torch
from torch.utils.data import DataLoader, TensorDataset


def main():
    """Load the batches in a new process."""
    dataset = TensorDataset(torch.arange(6.0).view(6, 1))
    loader = DataLoader(
        dataset,
        batch_size=3,
        num_workers=1,
        multiprocessing_context="spawn",  # the default on Windows and macOS
    )
    for (x,) in loader:
        print(x.flatten().tolist())


# The worker imports this file, too; its __name__ is not "__main__".
if __name__ == "__main__":
    main()
