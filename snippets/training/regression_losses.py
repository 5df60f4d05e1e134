"""Score predicted numbers: MSE, L1, Huber, smooth L1, quantile and MAPE."""

import torch
from torch import nn

pred = torch.tensor([[1.5], [2.0], [5.0], [20.0]])  # (N, 1): nn.Linear(D, 1)
y = torch.tensor([1.0, 2.0, 8.0, 10.0])  # (N,)

pred = pred.reshape_as(y)  # (N, 1) -> (N,): never compare (N, 1) and (N,)
mse = nn.MSELoss()(pred, y)  # large errors count most
mae = nn.L1Loss()(pred, y)  # outliers count little
huber = nn.HuberLoss(delta=2.0)(pred, y)  # e² / 2 up to delta, then straight
smooth = nn.SmoothL1Loss(beta=2.0)(pred, y)  # huber / delta, if beta is delta
e = y - pred
pinball = torch.maximum(0.9 * e, -0.1 * e).mean()  # the 0.9 quantile
mape = (e.abs() / y.abs().clamp(min=1e-8)).mean()  # relative; no y near 0

torch.testing.assert_close(huber, 2.0 * smooth)
print(
    f"MSE {mse:.2f}, L1 {mae:.2f}, Huber {huber:.2f}, smooth L1 {smooth:.2f}"
)
print(f"quantile 0.9 {pinball:.2f}, MAPE {mape:.0%}")
