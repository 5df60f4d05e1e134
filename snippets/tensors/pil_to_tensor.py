"""Turn a PIL image into a NumPy array and a float tensor."""

import numpy as np
import torch
from PIL import Image, ImageOps

Image.new("RGB", (4, 2), (255, 51, 0)).save("photo.png")
path = "photo.png"  # yours: the path of an image

with Image.open(path) as image:
    image = ImageOps.exif_transpose(image).convert("RGB")
array = np.array(image)  # (H, W, 3) uint8
tensor = torch.from_numpy(array).permute(2, 0, 1) / 255  # (3, H, W)

print(array.shape, array.dtype, array[0, 0])
print(tuple(tensor.shape), tensor.dtype, tensor[:, 0, 0])
