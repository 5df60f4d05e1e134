"""Keep old nn.DataParallel code alive: wrap, call, and save the model."""

import torch
from torch import nn

model = nn.Linear(8, 2)

device = "cuda:0" if torch.cuda.is_available() else "cpu"
model = nn.DataParallel(model.to(device))  # on all GPUs

y = model(torch.randn(6, 8))  # (6, 2), on cuda:0; each GPU got a part of 6
loss = y.square().mean()  # outside the model, else one loss per GPU
loss.backward()

print("wrapped:  ", *model.state_dict())
state = model.module.state_dict()  # the model inside: names as they were
print("unwrapped:", *state)
nn.Linear(8, 2).load_state_dict(state)
