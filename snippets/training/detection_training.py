"""Fine-tune a torchvision detector on your own images and boxes."""

import torch
from torch.utils.data import DataLoader, Dataset
from torchvision.models.detection import fasterrcnn_mobilenet_v3_large_320_fpn
from torchvision.models.detection.faster_rcnn import FastRCNNPredictor


class Boxes(Dataset):
    """Yours: an image and its target. Here, one bright box, or none."""

    def __len__(self):
        return 4

    def __getitem__(self, i):
        generator = torch.Generator().manual_seed(i)
        image = torch.rand(3, 64, 64 + 10 * i, generator=generator) / 3
        boxes = torch.empty(0, 4)  # an image without objects
        if i > 0:
            image[0, 10:50, 10 * i : 10 * i + 40] = 1
            boxes = torch.tensor([[10.0 * i, 10, 10 * i + 40, 50]])  # xyxy
        labels = torch.ones(len(boxes), dtype=torch.int64)  # 0 is background
        return image, {"boxes": boxes, "labels": labels}


torch.manual_seed(0)
device = torch.device("cpu")  # yours: "cuda"
dataset, epochs = Boxes(), 2
num_classes = 2  # yours: the kinds of objects, and one for the background

loader = DataLoader(dataset, 2, shuffle=True, collate_fn=list)  # no stacking
model = fasterrcnn_mobilenet_v3_large_320_fpn(
    weights=None,  # yours: weights="DEFAULT"
    weights_backbone=None,
)
width = model.roi_heads.box_predictor.cls_score.in_features
model.roi_heads.box_predictor = FastRCNNPredictor(width, num_classes)
model.to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.005, momentum=0.9)
for epoch in range(epochs):
    model.train()  # or it returns predictions
    for batch in loader:  # a list of (image, target)
        images = [image.to(device) for image, _ in batch]
        targets = [{k: v.to(device) for k, v in t.items()} for _, t in batch]
        loss = sum(model(images, targets).values())  # a dict of losses
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch}: loss {loss:.1f}")

with torch.no_grad():  # without targets: a list of dicts
    (found,) = model.eval()([Boxes()[1][0].to(device)])
print("found:", ", ".join(found))
