"""Learn the weights of several losses (Kendall et al., 2018)."""

import torch
from torch import nn


class UncertaintyWeights(nn.Module):
    """Weigh each loss by 1 / (2 var), and learn log(var)."""

    def __init__(self, tasks):
        super().__init__()
        self.log_var = nn.Parameter(torch.zeros(tasks))

    def forward(self, *losses):  # numbers with a gradient
        losses = torch.stack(losses)
        return 0.5 * (losses * torch.exp(-self.log_var) + self.log_var).sum()


def main():
    """Two tasks, one a hundred times as noisy as the other."""
    torch.manual_seed(0)
    model, weigh = nn.Linear(8, 2), UncertaintyWeights(2)
    optimizer = torch.optim.Adam(
        [
            {"params": model.parameters(), "lr": 0.01},
            {"params": weigh.parameters(), "lr": 0.2},
        ]
    )
    x, noise = torch.randn(500, 8), torch.randn(500, 2)
    target = noise * torch.tensor([0.1, 10.0])  # the second task is noisy
    for _ in range(400):
        losses = (model(x) - target).square().mean(0)  # one a task
        optimizer.zero_grad()
        weigh(*losses).backward()
        optimizer.step()
    weights = 0.5 * torch.exp(-weigh.log_var)
    print(f"losses {losses[0]:.2f} and {losses[1]:.0f}")
    print(f"weights {weights[0]:.0f} and {weights[1]:.3f}")


if __name__ == "__main__":
    main()
