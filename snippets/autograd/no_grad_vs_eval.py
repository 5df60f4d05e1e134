"""`eval()` changes what layers do; `no_grad()` keeps no graph."""

import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(8, 4)  # yours: a batch
model = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4), nn.Dropout())

model.eval()  # no dropout; BatchNorm: running statistics
with torch.no_grad():  # no graph: less memory
    prediction = model(x)
model.train()  # before training goes on

print("mode   grad      same twice  has a graph")
for mode in "train", "eval":
    model.train(mode == "train")
    for grad in True, False:
        with torch.set_grad_enabled(grad):
            y, again = model(x), model(x)
        what = "grad" if grad else "no_grad"
        same = str(torch.equal(y, again))
        print(f"{mode:6} {what:9} {same:11} {y.requires_grad}")
