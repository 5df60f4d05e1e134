"""Turn a tensor or array in [0, 1] into a PIL image, rounded and clipped."""

import numpy as np
import torch
from PIL import Image
from torchvision.transforms import v2

# (C, H, W) or (H, W)
tensor = torch.tensor([[[-0.5, 0.5]], [[0.0, 0.2]], [[0.999, 1.5]]])

pixels = tensor.detach()
if pixels.is_floating_point():  # in 0 to 1; uint8 stays as it is
    pixels = pixels.float().mul(255).round().clamp(0, 255).byte()
image = v2.functional.to_pil_image(pixels)

array = tensor.permute(1, 2, 0).numpy()  # (H, W, C)
rounded = np.rint(array * 255).clip(0, 255)
same_image = Image.fromarray(rounded.astype(np.uint8))

for result in (image, same_image):
    print(result.mode, result.size, np.asarray(result).tolist())
