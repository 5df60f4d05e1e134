"""Convolve over time without seeing the future: dilated causal Conv1d."""

import torch
from torch import nn
from torch.nn import functional as F


class CausalConv1d(nn.Conv1d):
    """Step t of the output sees the steps up to t; padding= is ignored."""

    def forward(self, x):  # (N, C, L), and L stays
        past = self.dilation[0] * (self.kernel_size[0] - 1)
        x = F.pad(x, (past, 0))  # zeros on the left
        rest = self.stride, 0, self.dilation, self.groups
        return F.conv1d(x, self.weight, self.bias, *rest)


if __name__ == "__main__":
    torch.manual_seed(0)
    x = torch.randn(8, 50, 3, requires_grad=True)  # (N, L, C)

    conv = CausalConv1d(x.shape[2], 16, kernel_size=3, dilation=2)
    y = conv(x.transpose(1, 2)).transpose(1, 2)  # (N, L, 16)
    print(y.shape)

    tcn = nn.Sequential(
        CausalConv1d(3, 16, kernel_size=3),
        nn.GELU(),
        CausalConv1d(16, 16, kernel_size=3, dilation=2),
        nn.GELU(),
        CausalConv1d(16, 16, kernel_size=3, dilation=4),
    )
    tcn(x.transpose(1, 2))[0, :, 30].sum().backward()
    seen = x.grad[0].any(dim=1).nonzero()
    print("step 30 sees steps", seen.min().item(), "to", seen.max().item())
