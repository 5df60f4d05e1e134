"""Use functional dropout so that it stops when the model is in eval mode."""

import torch
from torch import nn
from torch.nn import functional as F


class Classifier(nn.Module):
    """Two layers with dropout between them; (N, D) in, logits (N, C) out.

    Args:
        D, H, C: number of inputs, hidden units and classes.
        p: the probability of *dropping* a hidden unit, in [0, 1].

    Source: torch.nn.functional.dropout in the PyTorch reference
    """

    def __init__(self, D: int, H: int, C: int, p: float = 0.5):
        super().__init__()
        self.hidden, self.out = nn.Linear(D, H), nn.Linear(H, C)
        self.p = p

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = self.hidden(x).relu()  # (N, H)
        # A function does not know the mode: without the flag it drops always.
        h = F.dropout(h, self.p, training=self.training)
        return self.out(h)


if __name__ == "__main__":
    torch.manual_seed(0)
    model, x = Classifier(8, 64, 3), torch.randn(4, 8)
    assert not torch.equal(model(x), model(x))  # a new model is in train mode

    model.eval()
    assert torch.equal(model(x), model(x))

    ones = torch.ones(10)
    assert not torch.equal(F.dropout(ones), ones)  # the default: training
    print(F.dropout(ones, p=0.5).unique())  # the kept ones are scaled up
