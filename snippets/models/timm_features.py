"""Get features from a timm model: one vector per image, or feature maps."""

import timm
import torch

pretrained = False  # your code: True, which downloads the weights
model = timm.create_model("resnet18", pretrained, num_classes=0).eval()
stages = timm.create_model("resnet18", pretrained, features_only=True).eval()

images = torch.randn(2, 3, 224, 224)
with torch.no_grad():
    vectors = model(images)  # (N, 512)
    maps = stages(images)  # a list of (N, C, h, w)

print("vectors", tuple(vectors.shape))
for factor, x in zip(stages.feature_info.reduction(), maps, strict=True):
    print(f"map, {factor} times smaller", tuple(x.shape))

# Other names to give to create_model: those with weights.
names = timm.list_models("resnet*", pretrained=True)
assert "resnet18.a1_in1k" in names
