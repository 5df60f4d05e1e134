"""Write the backward pass by hand, and let gradcheck test it."""

import torch


class Swish(torch.autograd.Function):
    """x·sigmoid(x), which keeps only x for the backward pass.

    Call it as ``Swish.apply(x)``; x has any shape, float or double.
    """

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x.sigmoid()

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * x.sigmoid() * (1 + x * (-x).sigmoid())


if __name__ == "__main__":
    x = torch.randn(3, 4, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(Swish.apply, (x,))  # against x ± 1e-6
    torch.testing.assert_close(Swish.apply(x), torch.nn.functional.silu(x))
