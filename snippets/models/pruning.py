"""Set the smallest weights to zero; they stay zero while you fine-tune."""

import torch
from torch import nn
from torch.nn.utils import prune

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 2))
x, y = torch.randn(256, 20), torch.randint(2, (256,))


def fine_tune():
    """Train for some steps."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    for _ in range(20):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()


kinds = (nn.Linear, nn.Conv2d)
layers = [m for m in model.modules() if type(m) in kinds]  # no subclass
for m in layers:
    prune.l1_unstructured(m, "weight", amount=0.8)  # 80 % of this layer
fine_tune()  # yours: trains the model; what is zero stays zero
for m in layers:
    prune.remove(m, "weight")  # after fine-tuning, before saving

zeros = torch.cat([m.weight.flatten() for m in layers]) == 0
print(f"{zeros.float().mean():.0%} zeros in {len(zeros)} weights")
