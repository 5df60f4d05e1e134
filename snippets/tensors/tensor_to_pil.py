"""Turn a tensor or array into a PIL image: rounded and clipped to 8 bits."""

import numpy as np
import torch
from PIL import Image
from torchvision.transforms.v2.functional import to_pil_image


def array_to_pil(array: np.ndarray) -> Image.Image:
    """Return the image of a uint8 array, or of a float array in [0, 1].

    Floats outside [0, 1] become black or white, NaN black.

    Args:
        array: (H, W) or (H, W, C), C = 1 grey, 3 RGB, 4 RGBA.

    Raises:
        TypeError: the dtype has no image mode, such as int64 or bool.
        ValueError: the array is not 2- or 3-dimensional, or C > 4.

    Source: to_pil_image in the torchvision reference
    """
    if np.issubdtype(array.dtype, np.floating):
        level = np.nan_to_num(array.astype(np.float32)).clip(0, 1)
        array = np.rint(level * 255).astype(np.uint8)
    return to_pil_image(array)


def tensor_to_pil(tensor: torch.Tensor) -> Image.Image:
    """Do the same for a (H, W) or (C, H, W) tensor on any device."""
    if tensor.is_floating_point():
        tensor = tensor.float()  # NumPy has no bfloat16
    if tensor.ndim == 3:
        tensor = tensor.permute(1, 2, 0)  # (H, W, C)
    return array_to_pil(tensor.numpy(force=True))


if __name__ == "__main__":
    row = torch.tensor([[-0.5, 0.5, 0.999, 1.5]])  # (1, 4)
    image = tensor_to_pil(row)
    assert np.asarray(image).tolist() == [[0, 128, 255, 255]]

    # torchvision alone cuts the fraction off, and does not clip either.
    cut = to_pil_image(row[:, 1:3])
    assert np.asarray(cut).tolist() == [[127, 254]]
    print(image.mode, image.size, np.asarray(image)[0])
