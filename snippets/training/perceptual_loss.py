"""Compare images by the features of a frozen VGG instead of by pixels."""

import torch
from torch.nn import functional as F
from torchvision.models import vgg16
from torchvision.transforms.v2.functional import normalize


def make_vgg(weights="DEFAULT"):
    """Return VGG16 up to relu3_3, pretrained and frozen."""
    return vgg16(weights=weights).features[:16].eval().requires_grad_(False)


def perceptual_loss(vgg, pred, target):
    """Return the MSE of the features; images are (N, 3, H, W) in [0, 1]."""
    mean, std = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]  # ImageNet
    a, b = (vgg(normalize(x, mean, std)) for x in (pred, target))
    return F.mse_loss(a, b)


def gram(features):
    """Return (N, C, C), which channels occur together: the style."""
    f = features.flatten(2)  # (N, C, H * W)
    return f @ f.mT / (f.shape[1] * f.shape[2])


if __name__ == "__main__":
    torch.manual_seed(0)
    vgg = make_vgg(weights=None)  # yours: make_vgg().to(device), once
    target = torch.rand(1, 3, 32, 32)  # (N, 3, H, W), in [0, 1]
    pred = target.roll(1, dims=3).requires_grad_()  # (N, 3, H, W), of a model
    loss = F.l1_loss(pred, target) + 0.1 * perceptual_loss(vgg, pred, target)
    loss.backward()
    assert pred.grad is not None
    assert all(p.grad is None for p in vgg.parameters())
    print("style matrix of the target:", tuple(gram(vgg(target)).shape))
