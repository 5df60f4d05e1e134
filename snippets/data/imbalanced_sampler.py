"""Draw every class equally often, however rare it is."""

import torch
from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler

torch.manual_seed(0)
target = torch.tensor([0] * 900 + [1] * 90 + [2] * 10)  # (N,)
dataset = TensorDataset(torch.randn(1000, 8), target)  # yours: a Dataset

target = torch.as_tensor(target).long()  # ImageFolder has them in a list
count = torch.bincount(target)  # (C,)
weight = 1 / count[target]  # (N,): one per sample, not per class
sampler = WeightedRandomSampler(weight, len(target))
loader = DataLoader(dataset, batch_size=32, sampler=sampler)

drawn = torch.cat([y for _, y in loader])
print("in the data:", count.tolist())
print("drawn:      ", torch.bincount(drawn).tolist())
