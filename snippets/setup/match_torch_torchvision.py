"""Check that torch and torchvision belong together, by running an operator."""

from importlib.metadata import requires, version

import torch

wanted = [need for need in requires("torchvision") if need.startswith("torch")]
print("torch", version("torch"))
print("torchvision", version("torchvision"), "asks for", *wanted)

from torchvision.ops import nms  # noqa: E402, this import fails if they differ

boxes = torch.tensor([[0.0, 0, 2, 2], [0, 0, 2, 2], [5, 5, 6, 6]])
kept = nms(boxes, torch.tensor([0.9, 0.8, 0.7]), iou_threshold=0.5)
assert kept.tolist() == [0, 2]  # the second box repeats the first
