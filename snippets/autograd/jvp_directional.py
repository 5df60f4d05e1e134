"""Products with a Jacobian, from the right and the left, without making it."""

import warnings

import torch
from torch import nn
from torch.func import jacrev, jvp, linearize, vjp, vmap

for text in ("`torch.jit.script`", "Attempted to insert"):  # torch's own
    warnings.filterwarnings("ignore", text)
torch.manual_seed(0)
f = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 2))
f.requires_grad_(False)  # or the results carry a graph of the weights
x, v, u, vs = (torch.randn(size) for size in (3, 3, 2, (5, 3)))

y, Jv = jvp(f, (x,), (v,))  # (out,): how f(x) changes along v
_, pull = vjp(f, x)  # f runs once; then pull as often as you like
(uJ,) = pull(u)  # (in,): the gradient of u · f(x)
_, push = linearize(f, x)  # for many directions at the same x
Jvs = vmap(push)(vs)  # (K, out)

J = jacrev(f)(x)  # (out, in), only to compare
torch.testing.assert_close(Jv, J @ v)
torch.testing.assert_close(uJ, u @ J)
torch.testing.assert_close(Jvs, vs @ J.T)
