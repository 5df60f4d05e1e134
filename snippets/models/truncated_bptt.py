"""Train a recurrent network on long sequences, 20 steps at a time."""

import torch
from torch import nn

x = torch.randn(4, 100, 3)  # (N, T, C): row i is one long sequence
y = x.roll(1, dims=1)  # (N, T, O): a target for each step

lstm, head = nn.LSTM(3, 16, batch_first=True), nn.Linear(16, 3)
optimizer = torch.optim.Adam([*lstm.parameters(), *head.parameters()], 1e-2)
loss_fn = nn.MSELoss()
for _ in range(2):  # epochs
    state = None  # zeros: the sequences begin again
    for x_k, y_k in zip(x.split(20, dim=1), y.split(20, dim=1), strict=True):
        output, state = lstm(x_k, state)
        state = tuple(s.detach() for s in state)  # GRU: state.detach()
        loss = loss_fn(head(output), y_k)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
assert state[0].any()  # values are passed on,
assert state[0].grad_fn is None  # gradients are not
