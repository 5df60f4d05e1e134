"""Call F.dropout with the module's flag, so that eval mode turns it off."""

import torch
from torch import nn
from torch.nn import functional as F


class Classifier(nn.Module):
    """Two layers with dropout between: (N, features) to (N, classes)."""

    def __init__(self, features, classes, p=0.5):
        super().__init__()
        self.hidden = nn.Linear(features, 64)
        self.out = nn.Linear(64, classes)
        self.p = p  # the share of units that is dropped

    def forward(self, x):
        h = self.hidden(x).relu()  # (N, 64)
        h = F.dropout(h, self.p, training=self.training)
        return self.out(h)


if __name__ == "__main__":
    torch.manual_seed(0)
    model, x = Classifier(8, 3), torch.randn(4, 8)
    print("train, same result twice:", torch.equal(model(x), model(x)))
    model.eval()
    print("eval, same result twice:", torch.equal(model(x), model(x)))
