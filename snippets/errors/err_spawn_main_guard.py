"""Keep what starts processes under the main guard."""

import torch
from torch.utils.data import DataLoader, TensorDataset


def make_dataset():
    """Return 6 samples (x, y)."""
    return TensorDataset(torch.randn(6, 3), torch.arange(6))


def train_step(x, y):
    """Train on one batch; here, show its shapes."""
    print(tuple(x.shape), tuple(y.shape))


def main():
    """All that was at the top level of your script."""
    dataset = make_dataset()  # yours
    loader = DataLoader(dataset, batch_size=4, shuffle=True, num_workers=2)
    for x, y in loader:
        train_step(x, y)  # yours


# Each worker imports this file, too; its __name__ is not "__main__".
if __name__ == "__main__":
    main()
