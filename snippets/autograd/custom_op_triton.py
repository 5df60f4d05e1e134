"""Make a function that PyTorch cannot see into an operator of its own."""

import numpy as np
import torch


@torch.library.custom_op("mylib::swish", mutates_args=())
def swish(x: torch.Tensor) -> torch.Tensor:
    """Compute x * sigmoid(x)."""
    a = x.numpy(force=True)  # NumPy stands for your kernel
    return torch.as_tensor(a / (1 + np.exp(-a)), device=x.device)


@swish.register_fake  # for torch.compile: shape and dtype, no numbers
def _(x):
    return torch.empty_like(x)


def setup_context(ctx, inputs, output):
    """Keep what the gradient needs."""
    ctx.save_for_backward(*inputs)


def backward(ctx, grad_output):
    """Use torch operations here, or another custom operator."""
    (x,) = ctx.saved_tensors
    return grad_output * x.sigmoid() * (1 + x * (-x).sigmoid())


swish.register_autograd(backward, setup_context=setup_context)

if __name__ == "__main__":
    x = torch.linspace(-3, 3, 7, dtype=torch.float64, requires_grad=True)
    torch.library.opcheck(swish, (x.detach(),))  # do the parts fit together?
    torch.autograd.gradcheck(swish, (x,))  # is the gradient right?
    print(swish(x))
