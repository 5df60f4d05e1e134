"""Load the weights that fit a changed model, and see which did not."""

import torch
from torchvision.models import resnet18

torch.save(resnet18().state_dict(), "pretrained.pt")  # 1000 classes
model = resnet18(num_classes=5)

weights = torch.load("pretrained.pt", map_location="cpu", weights_only=True)
for key, own in model.state_dict().items():
    other = weights.get(key)
    if torch.is_tensor(other) and other.shape != own.shape:
        del weights[key]  # even strict=False raises for another shape
missing, unexpected = model.load_state_dict(weights, strict=False)
print("not loaded:", missing, "not used:", unexpected)  # read it

# Better: write down what you expect; a wrong name then shows at once.
assert missing == ["fc.weight", "fc.bias"]
assert unexpected == []
