"""Get the outputs of layers inside a model, by their names."""

import torch
from torchvision.models import resnet18
from torchvision.models.feature_extraction import create_feature_extractor

model = resnet18(weights=None)  # yours: weights="DEFAULT"
images = torch.randn(2, 3, 64, 64)  # (N, 3, H, W), normalised

extractor = create_feature_extractor(model.eval(), ["layer3", "flatten"])
with torch.no_grad():
    features = extractor(images)  # {name: output}
for name, x in features.items():
    print(name, tuple(x.shape))

# Any model, also one that torch.fx cannot trace: a hook.
hooked = {}
handle = model.layer3.register_forward_hook(
    lambda module, args, output: hooked.update(layer3=output.detach().clone())
)
model(images)
handle.remove()
assert torch.equal(hooked["layer3"], features["layer3"])
