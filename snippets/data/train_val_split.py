"""Split a dataset at random, or with equal shares of every class."""

import torch
from sklearn.model_selection import train_test_split
from torch.utils.data import Subset, random_split
from torchvision.datasets import FakeData
from torchvision.transforms import v2

# The same images as two datasets: with augmentation, and without.
dataset = FakeData(100, (3, 8, 8), 2, transform=v2.RandomCrop(4))
plain = FakeData(100, (3, 8, 8), 2, transform=v2.CenterCrop(4))

generator = torch.Generator().manual_seed(0)
train_set, val_set = random_split(dataset, [0.8, 0.2], generator)
val_set = Subset(plain, val_set.indices)  # validate without augmentation
print("random:", len(train_set), "and", len(val_set))

labels = torch.tensor([y for _, y in plain])  # ImageFolder: .targets
index = range(len(labels))  # stratified: the same share of each class
i, j = train_test_split(index, test_size=0.2, stratify=labels, random_state=0)
train_set, val_set = Subset(dataset, i), Subset(plain, j)
for part in (i, j):
    print("stratified:", torch.bincount(labels[part]).tolist())
