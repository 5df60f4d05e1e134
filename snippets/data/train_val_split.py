"""Split a dataset at random into a training and a validation set."""

import torch
from torch.utils.data import Subset, random_split
from torchvision.datasets import FakeData
from torchvision.transforms import v2

dataset = FakeData(100, (3, 8, 8), transform=v2.RandomCrop(4))  # yours

generator = torch.Generator().manual_seed(0)  # the same split in every run
train_set, val_set = random_split(dataset, [0.8, 0.2], generator)

# To validate without augmentation: the same images, another transform.
plain = FakeData(100, (3, 8, 8), transform=v2.CenterCrop(4))
plain_val_set = Subset(plain, val_set.indices)
print(len(train_set), "for training,", len(plain_val_set), "to validate")
