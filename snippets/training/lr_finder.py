"""Find a learning rate: raise it in each step, on a copy of the model."""

import copy
from itertools import chain, repeat

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(1000, 10)
data = TensorDataset(x, x[:, :3].argmax(1))
loader = DataLoader(data, 64, shuffle=True)  # yours: a DataLoader
device = torch.device("cpu")
model = nn.Sequential(nn.Linear(10, 64), nn.ReLU(), nn.Linear(64, 3))
optimizer = torch.optim.AdamW(model.parameters())
loss_fn = nn.CrossEntropyLoss()

net, opt = copy.deepcopy((model, optimizer))  # together: opt updates net
lrs, losses = torch.logspace(-6, 1, 200).tolist(), []
batches = chain.from_iterable(repeat(loader, len(lrs)))  # again and again
for lr, (x, y) in zip(lrs, batches, strict=False):
    for group in opt.param_groups:
        group["lr"] = lr
    loss = loss_fn(net(x.to(device)), y.to(device))
    opt.zero_grad()
    loss.backward()
    opt.step()
    losses.append(loss.item())
    if not losses[-1] < 4 * abs(losses[0]):  # it explodes, or is NaN
        break
assert len(losses) > 8, f"too few steps, the losses are {losses}"
smooth = torch.tensor(losses).unfold(0, 9, 1).mean(1)  # of 9 batches
lowest = lrs[smooth.nan_to_num(torch.inf).argmin() + 4]
print(f"loss lowest at {lowest:.0e}: begin with {lowest / 10:.0e}")
