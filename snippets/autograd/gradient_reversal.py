"""Reverse the gradient on its way back, for domain adaptation."""

import torch


class ReverseGradient(torch.autograd.Function):
    """The identity forward; the gradient times ``-scale`` backward."""

    @staticmethod
    def forward(ctx, x, scale):
        ctx.scale = scale  # not a tensor: kept as an attribute
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad_output):
        return -ctx.scale * grad_output, None  # one for each input


if __name__ == "__main__":
    x = torch.tensor([0.2, 1.7], requires_grad=True)
    ReverseGradient.apply(x, 0.5).sum().backward()
    print("reversed", x.grad.tolist())
