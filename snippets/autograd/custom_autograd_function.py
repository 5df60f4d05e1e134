"""Write the backward pass by hand, and let gradcheck test it."""

import torch


class Swish(torch.autograd.Function):
    """x * sigmoid(x); of the forward pass only x is kept."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x.sigmoid()

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * x.sigmoid() * (1 + x * (-x).sigmoid())


if __name__ == "__main__":
    x = torch.randn(3, 4, requires_grad=True)  # of any shape
    y = Swish.apply(x)  # never Swish()(x)
    torch.testing.assert_close(y, torch.nn.functional.silu(x))

    double = x.detach().double().requires_grad_()
    right = torch.autograd.gradcheck(Swish.apply, (double,))  # or it raises
    print("the gradient is that of finite differences:", right)
