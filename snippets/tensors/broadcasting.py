"""Line shapes up from the right; keep (B, 1) minus (B,) out of a loss."""

import torch
from torch.nn import functional as F

x, bias, gain = torch.rand(8, 3, 4), torch.rand(4), torch.rand(8)
shape = torch.broadcast_shapes(x.shape, bias.shape)  # or raises
shifted = x + bias  # (4,) fits the last dimension
scaled = x * gain[:, None, None]  # (8,) becomes (8, 1, 1)

y = torch.tensor([1.0, 2.0, 3.0])  # (B,)
pred = y[:, None]  # (B, 1), as nn.Linear(16, 1) gives it; here exact
loss = F.mse_loss(pred.squeeze(1), y)  # both (B,)

wrong = (pred - y).square()  # (B, B): each prediction minus each label
print("shapes", tuple(shape), tuple(wrong.shape))
print(f"loss {loss:.2f}, with (B, 1) - (B,) {wrong.mean():.2f}")
