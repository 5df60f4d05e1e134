"""Use a step function forward, and the identity for the gradient."""

import torch

soft = torch.tensor([0.2, 0.7], requires_grad=True)  # of any shape

hard = (soft > 0.5).float()  # or soft.round(), soft.sign(), ...
y = hard - soft.detach() + soft  # the value of hard, the gradient of soft

y.sum().backward()
print("value", y.tolist(), "gradient", soft.grad.tolist())
