"""Differentiate with respect to the input: saliency and FGSM."""

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.Flatten(), nn.Linear(288, 5))
model.eval()  # each image on its own
images, target = torch.rand(2, 3, 8, 8), torch.tensor([1, 4])

x = images.clone().requires_grad_(True)
loss = nn.functional.cross_entropy(model(x), target, reduction="sum")
(grad,) = torch.autograd.grad(loss, x)  # (N, 3, H, W), like x

saliency = grad.abs().amax(dim=1)  # (N, H, W): which pixels matter
with torch.no_grad():
    # FGSM: one small step that makes the loss larger
    adversarial = (images + 0.03 * grad.sign()).clamp(0, 1)
    worse = nn.functional.cross_entropy(
        model(adversarial), target, reduction="sum"
    )
print(f"loss {loss:.1f} -> {worse:.1f}, saliency {list(saliency.shape)}")
