"""Score predicted numbers: MSE, RMSE, L1, Huber, smooth L1, quantile, MAPE."""

import torch
from torch import nn

x = torch.tensor([[1.5], [2.0], [5.0], [20.0]])  # (N, features)
y = torch.tensor([1.0, 2.0, 8.0, 10.0])  # (N,)
model = nn.Identity()  # yours: returns (N, 1)

pred = model(x).squeeze(1)  # (N,)
assert pred.shape == y.shape  # (N, 1) and (N,) would become (N, N)
loss = nn.MSELoss()(pred, y)

rmse = (loss + 1e-8).sqrt()  # loss 0 has a gradient, too
mae = nn.L1Loss()(pred, y)
huber = nn.HuberLoss(delta=2.0)(pred, y)
smooth = nn.SmoothL1Loss(beta=2.0)(pred, y)
pinball = torch.maximum(0.9 * (y - pred), -0.1 * (y - pred)).mean()
mape = ((y - pred).abs() / y.abs().clamp(min=1e-8)).mean()

torch.testing.assert_close(huber, 2.0 * smooth)
print(f"MSE {loss:.2f}, RMSE {rmse:.2f}, L1 {mae:.2f}")
print(f"Huber {huber:.2f}, smooth L1 {smooth:.2f}")
print(f"quantile 0.9 {pinball:.2f}, MAPE {mape:.0%}")
