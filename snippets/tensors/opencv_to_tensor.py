"""Turn an OpenCV image into an RGB tensor, and a tensor into a file."""

import cv2
import numpy as np
import torch

cv2.imwrite("image.png", np.full((2, 4, 3), (255, 51, 0), np.uint8))  # blue
path = "image.png"  # yours: the path of an image

image = cv2.imread(path)  # (H, W, 3), BGR
if image is None:
    raise FileNotFoundError(path)
rgb = cv2.cvtColor(image, cv2.COLOR_BGR2RGB)
x = torch.from_numpy(rgb).permute(2, 0, 1) / 255  # (3, H, W), 0 to 1

levels = x.detach().cpu().mul(255).round().clamp(0, 255).byte()  # back
array = levels.permute(1, 2, 0).numpy()  # (H, W, 3), RGB
cv2.imwrite("copy.png", cv2.cvtColor(array, cv2.COLOR_RGB2BGR))

print(tuple(x.shape), x.dtype, x[:, 0, 0])
print(cv2.imread("copy.png")[0, 0])  # blue, green, red
