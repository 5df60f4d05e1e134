"""Fine-tune with LoRA: train two thin matrices beside a frozen layer."""

import torch
from torch import nn


class LoRALinear(nn.Module):
    """A frozen ``nn.Linear`` plus a trainable update of rank r.

    B starts at 0, so nothing changes at first. Source: Hu et al. 2021, LoRA.
    """

    def __init__(self, linear, r=8, alpha=16):
        super().__init__()
        self.linear = linear.requires_grad_(False)
        self.A = nn.Parameter(torch.empty(r, linear.in_features))
        self.B = nn.Parameter(torch.zeros(linear.out_features, r))
        nn.init.kaiming_uniform_(self.A, a=5**0.5)
        self.scale = alpha / r

    def forward(self, x):
        return self.linear(x) + self.scale * (x @ self.A.T @ self.B.T)

    @torch.no_grad()
    def merge(self):
        """Add the update to the weights; return the plain layer."""
        self.linear.weight += self.scale * (self.B @ self.A)
        return self.linear


if __name__ == "__main__":
    model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 4))
    model.requires_grad_(False)
    model[0] = LoRALinear(model[0])  # by name: model.set_submodule(…)
    trained = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=1e-2)
    x = torch.randn(3, 64)
    model(x).square().mean().backward()
    optimizer.step()
    y = model(x)
    model[0] = model[0].merge()  # for inference: as fast as before
    torch.testing.assert_close(model(x), y)
