"""Find a learning rate: raise it in each step, on a copy of the model."""

import copy

import torch
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(6400, 10)
loader = DataLoader(TensorDataset(x, x[:, :3].argmax(1)), 64, shuffle=True)
model = torch.nn.Sequential(torch.nn.Linear(10, 64), torch.nn.Linear(64, 3))
optimizer = torch.optim.SGD(model.parameters(), momentum=0.9)

net, opt, losses = copy.deepcopy((model, optimizer, {}))
for i, (x, y) in enumerate(loader):  # one epoch, from 1e-5 to 10
    opt.param_groups[0]["lr"] = lr = 1e-5 * 1e6 ** (i / len(loader))
    losses[lr] = F.cross_entropy(net(x), y)
    opt.zero_grad()
    losses[lr].backward()
    opt.step()

smooth = torch.stack([*losses.values()]).detach().unfold(0, 9, 1).mean(1)
lowest = [*losses][4 + smooth.nan_to_num(torch.inf).argmin()]  # 4: its middle
print(f"loss lowest at {lowest:.2f}, start with {lowest / 10:.2f}")
