"""Fine-tune a torchvision segmentation model on your own images and masks."""

import torch
from PIL import Image, ImageDraw
from torch import nn
from torch.utils.data import DataLoader, Dataset
from torchvision.models.segmentation import deeplabv3_mobilenet_v3_large
from torchvision.transforms import v2
from torchvision.tv_tensors import Mask


class Pairs(Dataset):
    """Yours: pairs of an image file and a mask file of class numbers."""

    def __init__(self, files, size):
        mean, std = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)  # ImageNet
        end = [v2.ToDtype(torch.float32, scale=True), v2.Normalize(mean, std)]
        self.transform = v2.Compose([v2.ToImage(), v2.Resize(size), *end])
        self.files = files

    def __len__(self):
        return len(self.files)

    def __getitem__(self, i):
        image, mask = map(Image.open, self.files[i])
        image, mask = self.transform(image.convert("RGB"), Mask(mask))
        return image, mask[0].long()  # (3, H, W), (H, W)


torch.manual_seed(1)
for i in range(4):  # a grey image with a red disc, and its mask
    image, mask = Image.new("RGB", (96, 64), "gray"), Image.new("L", (96, 64))
    ImageDraw.Draw(image).circle((30 + 9 * i, 32), 20, "red")
    ImageDraw.Draw(mask).circle((30 + 9 * i, 32), 20, 1)
    image.save(f"{i}.jpg")
    mask.save(f"{i}.png")
files = [(f"{i}.jpg", f"{i}.png") for i in range(4)]
dataset = Pairs(files, size=(48, 72))  # yours: (520, 520)
num_classes, epochs = 2, 2  # the background is a class: 0
device = torch.device("cpu")  # yours: "cuda"

loader = DataLoader(dataset, 2, shuffle=True, drop_last=True)
model = deeplabv3_mobilenet_v3_large(
    weights=None, weights_backbone=None, aux_loss=True
)  # yours: weights="DEFAULT"
for head in model.classifier, model.aux_classifier:
    head[-1] = nn.Conv2d(head[-1].in_channels, num_classes, 1)
model.to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
loss_fn = nn.CrossEntropyLoss(ignore_index=255)  # 255: not labelled
for epoch in range(epochs):
    model.train()
    for images, masks in loader:  # (N, 3, H, W), (N, H, W)
        images, masks = images.to(device), masks.to(device)
        pred = model(images)  # a dict of logits (N, num_classes, H, W)
        loss = loss_fn(pred["out"], masks) + 0.5 * loss_fn(pred["aux"], masks)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch}: loss {loss:.1f}")
