"""Compute a Jacobian, a Hessian, and a Hessian times a vector."""

import torch
from torch import nn
from torch.func import grad, jacrev, vmap

model = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 2)).eval()
model.requires_grad_(False)  # or the results carry a graph of the weights
x = torch.randn(3)  # (in,): one sample
v = torch.randn(3)  # (in,)
batch = torch.randn(5, 3)  # (N, in)


def f(x):
    """Return one number for one sample."""
    return model(x).square().sum()


J = jacrev(model)(x)  # (out, in), for one sample
Js = vmap(jacrev(model))(batch)  # (N, out, in), for each sample
H = jacrev(jacrev(f))(x)  # (in, in)
Hv = grad(lambda x: (grad(f)(x) * v).sum())(x)  # H @ v, without making H

torch.testing.assert_close(Hv, H @ v)
print("J", list(J.shape), "Js", list(Js.shape), "H", list(H.shape))
