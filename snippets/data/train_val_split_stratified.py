"""Split a dataset so that each class has the same share in both parts."""

import torch
from sklearn.model_selection import train_test_split
from torch.utils.data import Subset, TensorDataset

labels = [0] * 90 + [1] * 10  # yours, for ImageFolder: dataset.targets
dataset = TensorDataset(torch.randn(100, 4), torch.tensor(labels))

train_index, val_index = train_test_split(
    range(len(dataset)), test_size=0.2, stratify=labels, random_state=0
)
train_set = Subset(dataset, train_index)
val_set = Subset(dataset, val_index)

print("rare in training:", sum(labels[i] for i in train_index))
print("rare in validation:", sum(labels[i] for i in val_index))
