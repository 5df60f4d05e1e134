"""Turn masks drawn in colours, or in black and white, into class numbers."""

import numpy as np
from PIL import Image


def class_numbers(mask, colors):
    """Map color i of a PIL image to i, every other color to 255."""
    pixels = np.array(mask.convert("RGB"))  # (H, W, 3)
    numbers = np.full(pixels.shape[:2], 255, dtype=np.uint8)  # not labelled
    for i, color in enumerate(colors):
        numbers[(pixels == color).all(-1)] = i
    return Image.fromarray(numbers)


if __name__ == "__main__":
    black, white, red = (0, 0, 0), (255, 255, 255), (128, 0, 0)
    mask = Image.new("RGB", (3, 2), black)  # yours: Image.open("mask.png")
    mask.putpixel((0, 0), white)
    mask.putpixel((2, 1), red)

    numbers = class_numbers(mask, [black, white])  # class 0, class 1
    numbers.save("numbers.png")
    print(np.array(Image.open("numbers.png")))
