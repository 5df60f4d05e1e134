"""Copy a tensor: choose its memory, and whether gradients flow back."""

import torch

w = torch.tensor([1.0, 2.0], requires_grad=True)  # a weight

saved = w.detach().clone()  # own memory, no grad
branch = w.clone()  # own memory, gradients flow
value = w.detach()  # shared, replaces .data

with torch.no_grad():
    w += 10  # in place, as an optimizer does
branch.sum().backward()
print("saved ", saved.tolist(), saved.requires_grad)
print("branch", branch.tolist(), branch.requires_grad)
print("value ", value.tolist(), value.requires_grad)
print("grad  ", w.grad.tolist())
