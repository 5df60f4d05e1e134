"""Get features from a timm model: one vector per image, or feature maps."""

import timm
import torch

images = torch.randn(2, 3, 224, 224)  # (N, 3, H, W), standardised

model = timm.create_model("resnet18", num_classes=0)  # yours: pretrained=True
model.eval()
with torch.no_grad():
    vectors = model(images)  # (N, 512)

stages = timm.create_model("resnet18", features_only=True).eval()
with torch.no_grad():
    maps = stages(images)  # a list of (N, C, h, w)

print("vectors", tuple(vectors.shape))
for factor, x in zip(stages.feature_info.reduction(), maps, strict=True):
    print(f"map, {factor} times smaller", tuple(x.shape))

# Other names to give to create_model: those with weights.
names = timm.list_models("resnet*", pretrained=True)
assert "resnet18.a1_in1k" in names
