"""Grad-CAM: where in an image a CNN sees the class."""

import torch
from torchvision.models import resnet18


@torch.enable_grad()  # also in an evaluation under no_grad
def grad_cam(model, layer, images, classes=None):
    """Return one map per image, (N, H, W), between 0 and 1.

    layer is a convolutional block of the model, the last one as a rule.
    classes holds N class numbers; without it, the predicted ones.
    After Selvaraju et al. 2017, "Grad-CAM", equations 1 and 2.
    """
    kept = {}
    with layer.register_forward_hook(lambda m, a, out: kept.update(maps=out)):
        scores = model(images.detach().requires_grad_())  # (N, classes)
    if classes is None:
        classes = scores.argmax(1)
    score = scores.gather(1, classes[:, None]).sum()  # of each image's class
    (gradient,) = torch.autograd.grad(score, kept["maps"])  # (N, C, h, w)
    weights = gradient.mean((2, 3), keepdim=True)
    cam = (weights * kept["maps"]).sum(1, keepdim=True).relu().detach()
    cam = torch.nn.functional.interpolate(
        cam, images.shape[2:], mode="bilinear", align_corners=False
    )
    return (cam / cam.amax((2, 3), keepdim=True).clamp(min=1e-12))[:, 0]


if __name__ == "__main__":
    model = resnet18(weights=None).eval()  # your code: weights="DEFAULT"
    images = torch.randn(2, 3, 64, 64)  # normalised as for the model
    cam = grad_cam(model, model.layer4, images)
    print(tuple(cam.shape))
    # plt.imshow(picture); plt.imshow(cam[0], alpha=0.5, cmap="jet")
