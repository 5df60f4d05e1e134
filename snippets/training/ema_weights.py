"""Keep a moving average of the weights, and evaluate with it."""

import torch
from torch import nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

torch.manual_seed(0)
model = nn.Linear(8, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
ema = AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(0.98))

for _ in range(300):
    x = torch.randn(16, 8)
    y = x.sum(1, keepdim=True) + torch.randn(16, 1)  # noisy: weights jump
    optimizer.zero_grad()
    nn.functional.mse_loss(model(x), y).backward()
    optimizer.step()
    ema.update_parameters(model)  # after every step of the optimizer

ema.eval()  # evaluate, save and export this one
for name, net in [("model", model), ("average", ema.module)]:
    print(f"{name}: {(net.weight - 1).norm():.2f} from the true weights")
checkpoint = {"model_state_dict": model.state_dict()}
checkpoint["ema_state_dict"] = ema.state_dict()  # for resuming
