"""Count the FLOPs of a model's forward pass, and its multiply-adds (MACs)."""

import copy

import torch
from torch.utils.flop_counter import FlopCounterMode
from torchvision.models import resnet18

model = resnet18(weights=None)
x = torch.rand(1, 3, 224, 224)  # (1, 3, H, W)

shapes = copy.deepcopy(model).to("meta").eval()  # computes shapes only
with torch.no_grad(), FlopCounterMode(display=False) as counter:
    shapes(x.to("meta"))
flops = counter.get_total_flops()
macs = flops // 2  # what most tables of models show
print(f"{flops / 1e9:.2f} GFLOPs = {macs / 1e9:.2f} GMACs")

for name, counts in counter.get_flop_counts().items():
    if name.count(".") == 1:  # the direct children of the model
        print(f"{name:15} {sum(counts.values()) / 1e9:.3f}")
