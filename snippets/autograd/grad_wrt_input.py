"""Differentiate with respect to the input: saliency and FGSM."""

import torch
from sklearn.datasets import load_digits
from torch import nn

torch.manual_seed(0)
digits = load_digits()
images = torch.tensor(digits.images / 16)[:, None].float()  # (N, C, H, W)
target = torch.tensor(digits.target)  # (N,), the true classes
epsilon = 0.1  # yours: how far a pixel may move
model = nn.Sequential(nn.Flatten(), nn.Linear(64, 10))
optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
for _ in range(50):
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(images), target).backward()
    optimizer.step()

model.eval()  # each image by itself; model.train() before you train
x = images.detach().clone().requires_grad_(True)
loss = nn.functional.cross_entropy(model(x), target, reduction="sum")
(grad,) = torch.autograd.grad(loss, x)  # (N, C, H, W), like x
saliency = grad.abs().amax(dim=1)  # (N, H, W): which pixels matter
adversarial = (images + epsilon * grad.sign()).clamp(0, 1)  # FGSM, in 0 to 1

for name, batch in {"images": images, "adversarial": adversarial}.items():
    right = (model(batch).argmax(1) == target).float().mean()
    print(f"{name}: {right:.0%} right")
print("saliency", tuple(saliency.shape))
