"""Muon for the matrices of the hidden layers, AdamW for all other weights."""

from collections import OrderedDict

import torch
from torch import nn

embed, head = nn.Embedding(50, 16), nn.Linear(16, 50)
body = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 16))
model = nn.Sequential(OrderedDict(embed=embed, body=body, head=head))

embeddings = [m for m in model.modules() if isinstance(m, nn.Embedding)]
linears = [m for m in model.modules() if isinstance(m, nn.Linear)]
outer = {m.weight for m in embeddings + linears[-1:]}  # -1: the last layer
hidden, rest = [], []
for name, p in model.named_parameters():
    inner = p.ndim == 2 and p not in outer
    (hidden if inner else rest).append(p)
    print("Muon " if inner else "AdamW", name)  # read it once
muon = torch.optim.Muon(hidden, lr=3e-4, adjust_lr_fn="match_rms_adamw")
adamw = torch.optim.AdamW(rest, lr=3e-4)

ids = torch.arange(50)  # a step of training
nn.functional.cross_entropy(model(ids), ids.roll(-1)).backward()
muon.step()
adamw.step()
