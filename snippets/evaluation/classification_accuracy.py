"""Compute the accuracy of a classifier over a whole data set."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
y = torch.arange(103) % 10
dataset = TensorDataset(nn.functional.one_hot(y) + torch.randn(103, 10) / 3, y)
loader = DataLoader(dataset, batch_size=32)  # 32, 32, 32 and 7
model = nn.Sequential(nn.Dropout(), nn.Linear(10, 10)).to(device)
nn.init.eye_(model[1].weight)  # stands for training

model.eval()  # dropout off
correct = total = 0
with torch.inference_mode():
    for x, y in loader:
        pred = model(x.to(device)).argmax(1)  # (B,)
        correct += (pred == y.to(device).flatten()).sum()  # y: (B,) or (B, 1)
        total += len(y)
accuracy = (correct / total).item()
print(f"{correct} of {total} are right: {accuracy:.1%}")
