"""Logarithms of probabilities that never become inf or NaN."""

import torch
from torch.nn import functional as F

x = torch.tensor([[-200.0, 200.0]], requires_grad=True)  # (N, C) logits

log_p = x.log_softmax(dim=-1)  # not x.softmax(-1).log()
total = x.logsumexp(dim=-1)  # not x.exp().sum(-1).log()
log_yes = F.logsigmoid(x)  # not x.sigmoid().log()
log_no = F.logsigmoid(-x)  # not (1 - x.sigmoid()).log()
soft = F.softplus(x)  # not (1 + x.exp()).log()
either = torch.logaddexp(log_p[:, 0], log_p[:, 1])  # log(p0 + p1)
entropy = -(log_p.exp() * log_p).sum(dim=-1)

for name, naive, stable in [
    ("log_softmax", x.softmax(-1).log(), log_p),
    ("logsumexp", x.exp().sum(-1).log(), total),
    ("softplus", (1 + x.exp()).log(), soft),
]:
    (bad,) = torch.autograd.grad(naive.sum(), x)
    (good,) = torch.autograd.grad(stable.sum(), x, retain_graph=True)
    print(name, naive.tolist(), "->", stable.tolist())
    print("  gradient", bad.tolist(), "->", good.tolist())
