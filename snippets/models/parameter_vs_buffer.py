"""Keep a learnt tensor as a parameter, a fixed one as a buffer."""

import torch
from torch import nn


class Normalize(nn.Module):
    """(N, C) minus a fixed mean, times a learnt scale."""

    def __init__(self, mean):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(len(mean)))  # trained
        mean = torch.tensor(mean, dtype=torch.float32)  # NumPy's is float64
        self.register_buffer("mean", mean)  # fixed, saved
        mask = torch.ones(len(mean))  # 1 keeps a channel
        self.register_buffer("mask", mask, persistent=False)  # not saved

    def forward(self, x):
        return (x - self.mean) * self.scale * self.mask


if __name__ == "__main__":
    layer = Normalize([0.5, 0.4, 0.3])
    layer.plain = torch.ones(3)  # not registered
    layer.to(torch.float64)  # or a device
    assert layer(torch.ones(2, 3)).dtype == torch.float64
    tensors = dict(layer.named_parameters()) | dict(layer.named_buffers())
    moved = [k for k, v in tensors.items() if v.dtype == torch.float64]
    print("trained:     ", [k for k, _ in layer.named_parameters()])
    print("saved:       ", list(layer.state_dict()))
    print("moved by .to:", moved, "not plain:", layer.plain.dtype)
