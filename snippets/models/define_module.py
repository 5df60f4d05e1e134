"""Write your own network: layers in __init__, the computation in forward."""

import torch
from torch import nn


class Net(nn.Module):
    """A small classifier: (N, in_features) to logits (N, classes)."""

    def __init__(self, in_features, classes):
        super().__init__()  # before the first layer
        self.fc1 = nn.Linear(in_features, 32)
        self.fc2 = nn.Linear(32, classes)

    def forward(self, x):  # (N, in_features)
        x = torch.relu(self.fc1(x))
        return self.fc2(x)  # (N, classes), no softmax


if __name__ == "__main__":
    model = Net(in_features=4, classes=3)
    print(model)
    logits = model(torch.randn(8, 4))  # model(x), not model.forward(x)
    print(logits.shape)
