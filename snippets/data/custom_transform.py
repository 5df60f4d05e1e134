"""Write a random transform, and use it with RandAugment and RandomErasing."""

import torch
from torchvision import tv_tensors
from torchvision.transforms import v2


class RandomRightAngle(v2.Transform):
    """Turn by 0, 90, 180 or 270 degrees: image, mask and boxes alike."""

    def make_params(self, flat_inputs):  # once per call: draw here, with torch
        return {"angle": 90 * int(torch.randint(4, ()))}

    def transform(self, inpt, params):  # for the image, the mask, the boxes
        return v2.functional.rotate(inpt, params["angle"], expand=True)


train_transform = v2.Compose(
    [
        v2.RGB(),
        RandomRightAngle(),
        v2.RandomResizedCrop(224),
        v2.RandAugment(),  # while it is uint8 or PIL
        v2.ToImage(),
        v2.ToDtype(torch.float32, scale=True),
        v2.RandomErasing(),
    ]
)


if __name__ == "__main__":
    torch.manual_seed(2)
    image = torch.randint(256, (3, 32, 48), dtype=torch.uint8)
    mask = tv_tensors.Mask(image[0])
    turned, turned_mask = RandomRightAngle()(image, mask)
    print("before", tuple(image.shape), "after", tuple(turned.shape))
    print("the mask turned alike:", torch.equal(turned_mask, turned[0]))
    means = {train_transform(image).mean().item() for _ in range(4)}
    print(len(means), "views of one image")
