"""Run a function written for one sample on a whole batch, without a loop."""

import torch
from torch import nn
from torch.func import vmap


def f(a, b, w):
    """Score one sample: a, b and the shared weights w are (D,)."""
    d = (w * (a - b)).norm()
    return torch.where(d > 1, d - 0.5, d.square() / 2)  # not: if d > 1


if __name__ == "__main__":
    torch.manual_seed(0)
    x, y, w = torch.randn(6, 8), torch.randn(6, 8), torch.rand(8)

    out = vmap(f, in_dims=(0, 0, None))(x, y, w)  # (N,); None: shared
    pairs = vmap(vmap(f, (None, 0, None)), (0, None, None))(x, y, w)  # (N, M)
    noisy = vmap(nn.functional.dropout, randomness="different")(x)  # (N, D)

    looped = torch.stack([f(a, b, w) for a, b in zip(x, y, strict=True)])
    torch.testing.assert_close(out, looped)
    torch.testing.assert_close(out, pairs.diagonal())
    print(out.shape, pairs.shape, noisy.shape)
