"""Draw every class equally often, or weigh the rare ones in the loss."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler

torch.manual_seed(0)
target = torch.tensor([0] * 900 + [1] * 90 + [2] * 10)  # (N,)
dataset = TensorDataset(torch.randn(1000, 8), target)

count = torch.bincount(target)  # (C,)
weight = 1 / count[target]  # (N,): one per sample, not per class
sampler = WeightedRandomSampler(weight, len(target))
loader = DataLoader(dataset, batch_size=100, sampler=sampler)

# Or leave the loader alone, and let a mistake on a rare class cost more.
class_weight = len(target) / (len(count) * count)  # (C,)
loss_fn = nn.CrossEntropyLoss(weight=class_weight)

drawn = torch.cat([y for _, y in loader])
print("drawn per class:", torch.bincount(drawn).tolist())
print("weights in the loss:", [round(w, 2) for w in class_weight.tolist()])
