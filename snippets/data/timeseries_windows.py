"""Cut a time series into windows to forecast from, split by time."""

import numpy as np
import torch
from torch.utils.data import DataLoader, TensorDataset


def windows(series, past, future=1):
    """Pair `past` steps, (past, F), with the next `future` of column 0."""
    steps = series.unfold(0, past + future, 1)  # (N, F, past + future): a view
    return TensorDataset(steps[..., :past].mT, steps[:, 0, past:])


if __name__ == "__main__":
    t = np.arange(1000)
    series = np.stack([t / 100 + np.sin(t / 8), np.cos(t / 8)], 1)  # (T, F)
    series = torch.as_tensor(series, dtype=torch.float64)  # from NumPy
    past, cut = 48, int(0.8 * len(series))  # past: how many steps back
    mean = series[:cut].mean(0)  # of training only
    constant = series[:cut].amin(0) == series[:cut].amax(0)
    std = series[:cut].std(0).masked_fill(constant, 1)
    z = ((series - mean) / std).float()
    train, val = windows(z[:cut], past), windows(z[cut - past :], past)
    loader = DataLoader(train, batch_size=32, shuffle=True)
    x, y = next(iter(loader))
    print("x", tuple(x.shape), "y", tuple(y.shape))  # (B, T, F), (B, future)
    print(len(train), "windows to train,", len(val), "to validate")
