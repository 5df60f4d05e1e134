"""mIoU of a segmentation model over a whole validation set."""

import torch
from torchmetrics import JaccardIndex

torch.manual_seed(0)
device = "cuda" if torch.cuda.is_available() else "cpu"
C = 4  # yours: the number of classes
y = torch.randint(3, (7, 16, 16))  # class 3 never occurs, 255: no label
y[:, 0] = 255
x = torch.eye(5)[y % 5].movedim(-1, 1) + torch.randn(7, 5, 16, 16) / 3
loader = list(zip(x.split(4), y.split(4), strict=True))  # yours: a DataLoader
model = torch.nn.Conv2d(5, C, 1).to(device)
torch.nn.init.dirac_(model.weight)

metric = JaccardIndex("multiclass", num_classes=C, ignore_index=255).to(device)
model.eval()
with torch.inference_mode():
    for x, y in loader:  # (N, 3, H, W), (N, H, W)
        metric.update(model(x.to(device)), y.to(device))  # logits (N, C, H, W)
miou = metric.compute().item()  # mean over the classes that occur
print(f"mIoU {miou:.3f}")
