"""Keep the weights of linear layers in int8 or int4, by hand."""

import torch
import torch.nn.functional as F
from torch import nn


class Int8Linear(nn.Module):
    """A byte for each weight, and a scale for each row."""

    def __init__(self, linear):
        super().__init__()
        w = linear.weight.detach().float()  # (out, in)
        self.bias = linear.bias
        self.scale = nn.Buffer(w.abs().amax(1, True).clamp(min=1e-5) / 127)
        self.q = nn.Buffer((w / self.scale).round().to(torch.int8))

    def forward(self, x):
        return F.linear(x, (self.q * self.scale).to(x.dtype), self.bias)


class Int4Linear(nn.Module):
    """Two weights in a byte, and a scale for each group of a row."""

    def __init__(self, linear, group=32):
        super().__init__()
        w, self.bias = linear.weight.detach().float(), linear.bias
        w = w.unflatten(1, (-1, group))  # (out, groups, group)
        self.scale = nn.Buffer(w.abs().amax(2, True).clamp(min=1e-5) / 7)
        q = (w / self.scale).round().add(8).byte().flatten(1)  # 1 to 15
        self.q = nn.Buffer(q[:, ::2] << 4 | q[:, 1::2])

    def forward(self, x):
        q = torch.stack((self.q >> 4, self.q & 15), 2).char() - 8
        w = q.view(*self.scale.shape[:2], -1) * self.scale
        return F.linear(x, w.flatten(1).to(x.dtype), self.bias)


if __name__ == "__main__":
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(64, 64), nn.ReLU())
    for name, layer in list(model.named_modules()):
        if isinstance(layer, nn.Linear):
            model.set_submodule(name, Int8Linear(layer))

    linear, x = nn.Linear(1024, 1024), torch.randn(8, 1024)
    y = linear(x)
    for layer in (linear, Int8Linear(linear), Int4Linear(linear)):
        size = sum(t.nbytes for t in layer.state_dict().values()) / 2**20
        error = (layer(x) - y).norm() / y.norm()
        print(f"{size:.1f} MiB, error {error:.1%}", type(layer).__name__)
