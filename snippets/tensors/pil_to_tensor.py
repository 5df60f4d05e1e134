"""Turn a PIL image into an RGB array and tensor, the right way up."""

import io

import numpy as np
import torch
from PIL import Image, ImageOps

file = io.BytesIO()  # in real code, the path of your image
Image.new("RGBA", (4, 2), (255, 51, 0, 255)).save(file, "png")

with Image.open(file) as image:
    image = ImageOps.exif_transpose(image).convert("RGB")
array = np.array(image)  # (H, W, 3) uint8
tensor = torch.from_numpy(array).permute(2, 0, 1) / 255

print(array.shape, array.dtype, array[0, 0])
print(tuple(tensor.shape), tensor.dtype, tensor[:, 0, 0])
