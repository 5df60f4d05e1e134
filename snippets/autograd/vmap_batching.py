"""Run a function written for one sample on a whole batch, without a loop."""

import torch
from torch import nn
from torch.func import vmap


def distance(a, b, w):
    """Yours, for one pair: a, b and the weights w are (D,)."""
    d = (w * (a - b)).norm()
    return torch.where(d > 1, d - 0.5, d.square() / 2)  # not: if d > 1


if __name__ == "__main__":
    torch.manual_seed(0)
    x = torch.randn(6, 8)  # (N, D)
    y = torch.randn(6, 8)  # (N, D)
    w = torch.rand(8)  # (D,)

    out = vmap(distance, in_dims=(0, 0, None))(x, y, w)  # (N,); None: shared

    # All pairs; and new random numbers for each sample.
    pairs = vmap(vmap(distance, (None, 0, None)), (0, None, None))(x, y, w)
    noisy = vmap(nn.functional.dropout, randomness="different")(x)  # (N, D)

    looped = [distance(a, b, w) for a, b in zip(x, y, strict=True)]
    torch.testing.assert_close(out, torch.stack(looped))
    torch.testing.assert_close(out, pairs.diagonal())
    print(out.shape, pairs.shape, noisy.shape)
