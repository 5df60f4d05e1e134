"""Transform an image together with its boxes, masks and labels."""

import torch
from torchvision import tv_tensors as tv
from torchvision.ops import masks_to_boxes
from torchvision.transforms import v2

torch.manual_seed(8)
pixels = torch.randint(256, (3, 80, 120), dtype=torch.uint8)  # (C, H, W)
xyxy = torch.tensor([[30, 20, 70, 60], [110, 5, 120, 15]])  # (N, 4)
masks = torch.zeros(2, 80, 120, dtype=torch.uint8)  # (N, H, W)
masks[0, 20:60, 30:70] = masks[1, 5:15, 110:120] = 1
labels = torch.tensor([4, 9])

image = v2.functional.to_image(pixels)  # or PIL, or NumPy (H, W, C)
xyxy = torch.as_tensor(xyxy).reshape(-1, 4)  # (0, 4) without objects
boxes = tv.BoundingBoxes(xyxy, format="XYXY", canvas_size=image.shape[-2:])
target = {"boxes": boxes, "masks": tv.Mask(masks), "labels": labels}
augment = [v2.RandomHorizontalFlip(), v2.RandomCrop((64, 64))]
end = [v2.SanitizeBoundingBoxes(), v2.ToDtype(torch.float32, scale=True)]
image, target = v2.Compose([*augment, *end])(image, target)

print("labels", target["labels"].tolist(), "boxes", target["boxes"].tolist())
around = masks_to_boxes(target["masks"]) + torch.tensor([0, 0, 1, 1])
print("boxes fit the masks:", torch.equal(around, target["boxes"].float()))
