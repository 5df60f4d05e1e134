"""Leave the input on the CPU, read the error, then move everything."""

import torch
from torch import nn


class Net(nn.Module):
    """All its tensors move with it, or follow the input."""

    def __init__(self, mean):
        super().__init__()
        self.register_buffer("mean", mean)  # not self.mean = mean
        self.fcs = nn.ModuleList([nn.Linear(4, 4)])  # not a list

    def forward(self, x):  # (B, 4)
        mask = torch.ones(4, device=x.device)
        x = (x - self.mean) * mask
        for fc in self.fcs:
            x = fc(x)
        return x


if __name__ == "__main__":
    # Without a GPU, the meta device (shapes, no values) complains, too.
    gpu = torch.accelerator.current_accelerator(check_available=True)
    device = gpu or torch.device("meta")
    model = Net(torch.zeros(4)).to(device)
    x, target = torch.randn(2, 4), torch.randn(2, 4)
    try:
        model(x)
    except RuntimeError as error:
        print("error:", error)
    x, target = x.to(device), target.to(device)
    loss = (model(x) - target).square().mean()
    assert loss.device.type == device.type
