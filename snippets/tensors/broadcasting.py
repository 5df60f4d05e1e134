"""Line shapes up from the right; keep (N, 1) minus (N,) out of a loss."""

import torch
from torch.nn import functional as F

y = torch.tensor([1.0, 2.0, 3.0])  # (N,)
pred = y[:, None]  # (N, 1), as nn.Linear(16, 1) gives it; here exact
x = torch.rand(8, 3, 4)  # (B, T, D)
bias = torch.rand(4)  # (D,)
gain = torch.rand(8)  # (B,)

shifted = x + bias  # (D,) fits the last dimension
scaled = x * gain[:, None, None]  # (B,) becomes (B, 1, 1)
loss = F.mse_loss(pred.squeeze(1), y)  # both (N,): never (N, 1) with (N,)

wrong = (pred - y).square()  # (N, N): each prediction minus each label
print("shapes", tuple(scaled.shape), tuple(wrong.shape))
print(f"loss {loss:.2f}, with (N, 1) - (N,) {wrong.mean():.2f}")
