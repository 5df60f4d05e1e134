"""Differentiate with respect to the input: saliency and FGSM."""

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.Flatten(), nn.Linear(288, 5))
images = torch.rand(2, 3, 8, 8)  # (N, C, H, W), in 0 ... 1
target = torch.tensor([1, 4])  # (N,)
epsilon = 0.03  # yours: how far a pixel may move

model.eval()  # so that each image has its own gradient
x = images.detach().clone().requires_grad_(True)
loss = nn.functional.cross_entropy(model(x), target, reduction="sum")
(grad,) = torch.autograd.grad(loss, x)  # (N, C, H, W), like x
saliency = grad.abs().amax(dim=1)  # (N, H, W): which pixels matter
adversarial = (images + epsilon * grad.sign()).clamp(0, 1)  # FGSM

with torch.no_grad():
    worse = nn.functional.cross_entropy(
        model(adversarial), target, reduction="sum"
    )
print(f"loss {loss:.1f} -> {worse:.1f}, saliency {list(saliency.shape)}")
