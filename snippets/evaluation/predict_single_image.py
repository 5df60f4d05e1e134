"""Predict the class of one image file with a trained classifier."""

import torch
from PIL import Image, ImageOps
from torch import nn
from torchvision.models import ResNet18_Weights

Image.new("RGBA", (300, 260), "orange").save("photo.png")
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
# Stands for your trained model: its logits are the mean red, green and blue.
model = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten())
class_names = ["red", "green", "blue"]  # yours: train_set.classes
val_transform = ResNet18_Weights.DEFAULT.transforms()  # yours

image = ImageOps.exif_transpose(Image.open("photo.png")).convert("RGB")
x = val_transform(image).unsqueeze(0).to(device)  # (1, 3, H, W)
model.eval()
with torch.inference_mode():
    probs = model(x).softmax(1)[0]  # (C,)
scores, classes = probs.topk(min(5, len(probs)))
for score, i in zip(scores.tolist(), classes.tolist(), strict=True):
    print(f"{class_names[i]}: {score:.1%}")
