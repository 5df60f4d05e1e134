"""Prepare images: random crops to train on, one fixed crop to validate."""

import torch
from PIL import Image
from torchvision.transforms import v2

IMAGENET_MEAN, IMAGENET_STD = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]


def image_transforms(size: int = 224) -> tuple[v2.Compose, v2.Compose]:
    """Return the transforms for training and for validation.

    Both turn a PIL image into a (3, size, size) float32 tensor, scaled to
    [0, 1] and normalised with the statistics of ImageNet.

    Args:
        size: height and width of the result, in pixels.

    Source: https://docs.pytorch.org/vision/stable/transforms.html
    """
    as_uint8 = [v2.RGB(), v2.ToImage()]
    as_float = [
        v2.ToDtype(torch.float32, scale=True),
        v2.Normalize(IMAGENET_MEAN, IMAGENET_STD),
    ]
    train = [v2.RandomResizedCrop(size), v2.RandomHorizontalFlip()]
    val = [v2.Resize(round(size / 0.875)), v2.CenterCrop(size)]  # 256 and 224
    return (
        v2.Compose([*as_uint8, *train, *as_float]),
        v2.Compose([*as_uint8, *val, *as_float]),
    )


if __name__ == "__main__":
    torch.manual_seed(0)
    train, val = image_transforms()
    image = Image.linear_gradient("L").resize((400, 300))

    assert train(image).shape == val(image).shape == (3, 224, 224)
    assert not torch.equal(train(image), train(image))  # two random crops
    assert torch.equal(val(image), val(image))

    white = val(Image.new("RGB", (400, 300), "white"))
    print("white becomes", [round(v, 2) for v in white[:, 0, 0].tolist()])
