"""Compute the gradient of each sample of a batch, without a loop."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.func import functional_call, grad, vmap


def per_sample_gradients(model, x, y, loss_fn=F.cross_entropy):
    """Return {name: (N, *parameter.shape)}; frozen parameters are left out."""
    named = model.named_parameters()
    params = {k: p.detach() for k, p in named if p.requires_grad}

    def loss_of_one(params, x, y):  # a batch of one
        return loss_fn(functional_call(model, params, (x[None],)), y[None])

    per_sample = vmap(grad(loss_of_one), (None, 0, 0), randomness="different")
    return per_sample(params, x, y)


if __name__ == "__main__":
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))
    x, y = torch.randn(32, 8), torch.randint(4, (32,))

    grads = per_sample_gradients(model, x, y)
    norms = sum(g.flatten(1).square().sum(1) for g in grads.values()).sqrt()

    F.cross_entropy(model(x), y).backward()  # their mean
    for name, p in model.named_parameters():
        torch.testing.assert_close(grads[name].mean(0), p.grad)
    print(f"norms from {norms.min():.2f} to {norms.max():.2f}")
