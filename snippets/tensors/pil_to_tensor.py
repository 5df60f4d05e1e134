"""Turn any 8-bit PIL image into an RGB tensor or array, the right way up."""

import io

import numpy as np
import torch
from PIL import Image, ImageOps


def pil_to_numpy(image: Image.Image) -> np.ndarray:
    """Return a new, writable (H, W, 3) uint8 array.

    Greyscale, palette, CMYK and RGBA images become RGB; alpha is dropped. The
    EXIF orientation that cameras store is applied.

    Raises:
        ValueError: more than 8 bits per channel, where convert would clip.

    Source: https://pillow.readthedocs.io/en/stable/handbook/concepts.html
    """
    if image.mode.startswith(("I", "F")):
        raise ValueError(f"mode {image.mode} has more than 8 bits: scale it")
    return np.array(ImageOps.exif_transpose(image).convert("RGB"))


def pil_to_tensor(image: Image.Image) -> torch.Tensor:
    """Return the same as a contiguous (3, H, W) float32 tensor in [0, 1]."""
    pixels = torch.from_numpy(pil_to_numpy(image))  # (H, W, 3)
    return pixels.permute(2, 0, 1).contiguous().float() / 255


if __name__ == "__main__":
    file = io.BytesIO()  # stands for a path
    Image.new("L", (4, 2), color=51).save(file, "png")

    with Image.open(file) as image:  # closes the file, which is read late
        tensor = pil_to_tensor(image)
    torch.testing.assert_close(tensor, torch.full((3, 2, 4), 0.2))
    print(tuple(tensor.shape), tensor.dtype, round(tensor.max().item(), 3))
