"""What nn.LSTM returns: output, h_n and c_n, and which is the last state."""

import torch
from torch import nn

N, T, C, H = 4, 6, 3, 5  # batch, steps, features, hidden size
x = torch.randn(N, T, C)  # (N, T, C)

lstm = nn.LSTM(C, H, num_layers=2, bidirectional=True, batch_first=True)
output, (h_n, c_n) = lstm(x)
# One vector per sequence: the end states of the last layer, (N, 2 * H).
last = torch.cat([h_n[-2], h_n[-1]], dim=-1)  # one direction: h_n[-1]

assert output.shape == (N, T, 2 * H)  # the last layer, at every step
assert h_n.shape == c_n.shape == (2 * 2, N, H)  # each layer, its last step
forward, backward = output.chunk(2, dim=2)  # each (N, T, H)
assert torch.equal(h_n[-2], forward[:, -1])
assert torch.equal(h_n[-1], backward[:, 0])  # it ends at the first step
