"""Cross entropy over a huge vocabulary, without storing all logits."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
h = torch.randn(2, 1024, 32, requires_grad=True)  # (B, T, C), before the head
head = nn.Linear(32, 5_000)  # yours: the layer that gives the logits
target = torch.randint(5_000, (2, 1024))  # (B, T): the next tokens, or -100

loss = F.linear_cross_entropy(
    h.flatten(0, 1),
    head.weight,
    target.flatten(),
    linear_bias=head.bias,  # may be None
    options=nn.LinearCrossEntropyOptions(),  # without it all logits are kept
)

plain = F.cross_entropy(head(h).flatten(0, 1), target.flatten())
inputs = (h, head.weight, head.bias)
grads = torch.autograd.grad(loss, inputs), torch.autograd.grad(plain, inputs)
torch.testing.assert_close((loss, grads[0]), (plain, grads[1]))
