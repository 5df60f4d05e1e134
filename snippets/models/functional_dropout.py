"""Call F.dropout with the module's flag, so that eval mode turns it off."""

import torch
from torch import nn
from torch.nn import functional as F


class Classifier(nn.Module):
    """Two layers with dropout between them: (N, 8) to (N, 3)."""

    def __init__(self, p=0.5):
        super().__init__()
        self.hidden, self.out = nn.Linear(8, 64), nn.Linear(64, 3)
        self.p = p  # the share of units that is dropped

    def forward(self, x):
        h = self.hidden(x).relu()  # (N, 64)
        h = F.dropout(h, self.p, training=self.training)
        return self.out(h)


if __name__ == "__main__":
    torch.manual_seed(0)
    model, x = Classifier(), torch.randn(4, 8)
    print("train, same result twice:", torch.equal(model(x), model(x)))
    model.eval()
    print("eval, same result twice:", torch.equal(model(x), model(x)))
