"""Keep a moving average of the weights, and evaluate with it."""

import torch
from torch import nn
from torch.optim.swa_utils import AveragedModel

torch.manual_seed(0)
model = nn.Linear(8, 1)
loss_fn, optimizer = nn.MSELoss(), torch.optim.SGD(model.parameters(), lr=0.1)
inputs = torch.randn(300, 16, 8)
targets = inputs.sum(2, keepdim=True) + torch.randn(300, 16, 1)  # noisy
loader = list(zip(inputs, targets, strict=True))  # yours: a DataLoader
decay = 0.98  # yours: 0.999 and more, for many steps


def average(old, new, _steps):
    """Move the averages towards the weights; copy integers."""
    for a, b in zip(old, new, strict=True):
        a.copy_(a.lerp(b, 1 - decay) if a.is_floating_point() else b)


ema = AveragedModel(model, multi_avg_fn=average, use_buffers=True)
for x, y in loader:
    optimizer.zero_grad()
    loss_fn(model(x), y).backward()
    optimizer.step()
    ema.update_parameters(model)  # after every step of the optimizer
ema.eval()  # evaluate, save and export this one
for name, net in [("model", model), ("average", ema.module)]:
    print(f"{name}: {(net.weight - 1).norm():.2f} from the true weights")
checkpoint = {"ema_state_dict": ema.state_dict()}  # to resume, with the rest
