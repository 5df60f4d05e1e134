"""Raise the error, then call backward once per graph."""

import torch
from torch import nn

model, x = nn.Linear(4, 8), torch.randn(16, 4)
loss_a, loss_b, (y_a, y_b) = nn.MSELoss(), nn.L1Loss(), torch.randn(2, 16, 8)
out = model(x)  # both losses go through this graph
loss_1, loss_2 = loss_a(out, y_a), loss_b(out, y_b)
try:
    loss_1.backward()  # frees the graph behind it
    loss_2.backward()
except RuntimeError as error:
    print("error:", str(error).partition(" (")[0])

out = model(x)
loss_1, loss_2 = loss_a(out, y_a), loss_b(out, y_b)  # both are yours
(loss_1 + loss_2).backward()  # one backward, of their sum

rnn, state = nn.RNN(4, 8, batch_first=True), None
for chunk in torch.randn(2, 9, 4).split(3, dim=1):  # (B, steps, C)
    out, state = rnn(chunk, state)
    out.square().mean().backward()
    state = state.detach()  # a state carried on: its values, not its graph
print("fixed")
