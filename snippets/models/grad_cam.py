"""Grad-CAM: where in an image a CNN sees the class."""

import matplotlib.pyplot as plt
import torch
from torch import nn
from torch.nn import functional as F


@torch.enable_grad()  # also in an evaluation under no_grad
def grad_cam(model, layer, images, classes=None):
    """Return one map per image, (N, H, W), between 0 and 1.

    Source: Selvaraju et al. 2017. classes: (N,); default, those predicted.
    """
    kept = {}

    def keep(module, args, output):
        kept["maps"] = output  # not detached: its gradient is needed

    with layer.register_forward_hook(keep):
        scores = model(images.detach().requires_grad_())  # (N, classes)
    classes = scores.argmax(1) if classes is None else classes
    score = scores.gather(1, classes[:, None]).sum()  # one of each image
    (gradient,) = torch.autograd.grad(score, kept["maps"])  # (N, C, h, w)
    weights = gradient.mean((2, 3), keepdim=True)
    cam = (weights * kept["maps"]).sum(1, keepdim=True).relu().detach()
    cam = F.interpolate(cam, images.shape[2:], mode="bilinear")
    return (cam / cam.amax((2, 3), keepdim=True).clamp(min=1e-12))[:, 0]


if __name__ == "__main__":
    torch.manual_seed(0)
    labels = torch.arange(64) % 2  # a lying bar, a standing one
    images = 0.3 * torch.randn(64, 1, 32, 32)
    for image, label, at in zip(images, labels, torch.randint(4, 20, (64, 2))):
        h, w = (9, 3) if label else (3, 9)
        image[0, at[0] : at[0] + h, at[1] : at[1] + w] += 2
    layers = nn.Conv2d(1, 16, 5, 2, 2), nn.ReLU(), nn.Conv2d(16, 16, 5, 1, 2)
    model = nn.Sequential(nn.Sequential(*layers, nn.ReLU()))
    model.extend([nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 2)])
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(60):
        loss = F.cross_entropy(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    layer = model[0]  # yours: the last convolutional block, model.layer4
    cam = grad_cam(model.eval(), layer, images)  # (N, H, W)

    print(loss)
    fig, axes = plt.subplots(1, 4, figsize=(4.8, 1.3))
    for ax, image, heat in zip(axes, images[:, 0], cam):
        ax.imshow(image, cmap="gray")
        ax.imshow(heat, cmap="jet", alpha=0.4)
        ax.axis("off")
    fig.savefig("/tmp/grad_cam.png", dpi=150)
    fig.savefig("grad_cam.svg")
