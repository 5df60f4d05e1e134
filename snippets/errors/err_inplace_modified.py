"""Raise the error, then mend each of its usual causes."""

import torch
from torch import nn

net, critic, x = nn.Linear(8, 8), nn.Linear(8, 1), torch.randn(4, 8)
optimizer = torch.optim.SGD(critic.parameters(), lr=0.1)
try:
    y = net(x).sigmoid()  # backward needs this y
    y += x
    y.sum().backward()
except RuntimeError as error:
    print("error:", str(error).partition(": [")[0])

y = net(x).sigmoid()
y = y + x  # not y += x
steps = [nn.ReLU()(y)]  # not inplace=True
for _ in range(3):
    steps.append(net(steps[-1]))  # not out[i] = ...
out = torch.stack(steps)  # (4, 4, 8)

critic(out.detach()).mean().backward()
optimizer.step()  # changes critic's weights
loss = -critic(out).mean()  # a new forward
loss.backward()
