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
    cam = F.interpolate(cam.float(), images.shape[2:], mode="bilinear")
    return (cam / cam.amax((2, 3), keepdim=True).clamp(min=1e-12))[:, 0]


if __name__ == "__main__":
    torch.manual_seed(0)
    images = 0.3 * torch.randn(64, 1, 32, 32)  # (N, C, H, W), normalised
    images[::2, 0, 12:15, 14:23] += 2  # class 0: a lying bar
    images[1::2, 0, 9:18, 6:9] += 2  # class 1: a standing bar
    target = torch.arange(64) % 2
    block = nn.Sequential(nn.Conv2d(1, 8, 5, 2, 2), nn.ReLU())
    head = nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 2)
    model = nn.Sequential(block, *head)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(60):
        optimizer.zero_grad()
        F.cross_entropy(model(images), target).backward()
        optimizer.step()

    layer = model[0]  # yours: the last convolutional block, model.layer4
    cam = grad_cam(model.eval(), layer, images)

    fig, axes = plt.subplots(1, 2, figsize=(3.2, 1.6))
    for ax, image, heat in zip(axes, images[:2, 0], cam[:2], strict=True):
        ax.imshow(image.numpy(), cmap=plt.get_cmap("gray", 12))
        ax.imshow(heat.numpy(), cmap=plt.get_cmap("jet", 16), alpha=0.4)
        ax.axis("off")
    fig.savefig("grad_cam.svg")
    assert cam[0, 12:15, 14:23].mean() > cam[0].mean()  # on the bar
    assert cam[1, 9:18, 6:9].mean() > cam[1].mean()
