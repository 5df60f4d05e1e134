"""Keep dropout on at inference, and take the spread as uncertainty."""

import torch
from torch import nn

torch.manual_seed(0)
body = nn.Sequential(nn.Linear(10, 64), nn.ReLU(), nn.Dropout(0.2))
model = nn.Sequential(nn.BatchNorm1d(10), body, nn.Linear(64, 3))
x = torch.randn(8, 10)  # (N, D)

model.eval()  # BatchNorm stays in eval mode
for module in model.modules():
    if isinstance(module, (nn.Dropout, nn.Dropout2d)):
        module.train()
with torch.no_grad():  # (T, N, C): T = 50 passes
    probs = torch.stack([model(x).softmax(1) for _ in range(50)])
mean, std = probs.mean(0), probs.std(0)  # (N, C) each

total = torch.special.entr(mean).sum(1)  # (N,): entropy, in nats
aleatoric = torch.special.entr(probs).sum(2).mean(0)  # mean over the passes
epistemic = total - aleatoric  # mutual information
predicted = mean.argmax(1)
assert (epistemic > 0).all() and (std > 0).all()
model.eval()  # afterwards: dropout off again
