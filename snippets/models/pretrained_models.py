"""Load a pretrained model of torchvision by its name, and use it."""

import os
import tempfile
from pathlib import Path

import torch
from torchvision import models

# Leave this out: random weights in a cache of their own, no download.
os.environ["TORCH_HOME"] = tempfile.mkdtemp()
cache = Path(os.environ["TORCH_HOME"], "hub", "checkpoints")
cache.mkdir(parents=True)
torch.save(models.resnet18().state_dict(), cache / "resnet18-f37072fd.pth")
photo = torch.randint(256, (3, 300, 400), dtype=torch.uint8)  # or a PIL image

weights = models.get_model_weights("resnet18").DEFAULT
model = models.get_model("resnet18", weights=weights).eval()  # downloads once
x = weights.transforms()(photo)[None]  # as these weights expect it
with torch.inference_mode():
    scores = model(x)[0]  # (1000,)
label = weights.meta["categories"][scores.argmax()]

print(len(scores), "classes, such as", weights.meta["categories"][:3])
