"""Freeze a pretrained ResNet and train only a new classification layer."""

import copy

import torch
from torch import nn
from torch.nn import functional as F
from torchvision.models import ResNet, resnet18


class HeadOnly(nn.Module):
    """A frozen ResNet without its last layer, and a new layer that trains.

    ``forward`` maps images, (N, 3, H, W), to logits, (N, C).

    Args:
        backbone: a torchvision ResNet; it is changed in place.
        num_classes: C.

    Source: "ConvNet as fixed feature extractor" in
    docs.pytorch.org/tutorials/beginner/transfer_learning_tutorial.html
    """

    def __init__(self, backbone: ResNet, num_classes: int):
        super().__init__()
        self.head = nn.Linear(backbone.fc.in_features, num_classes)
        backbone.fc = nn.Identity()
        self.backbone = backbone.requires_grad_(False).eval()

    def train(self, mode: bool = True) -> "HeadOnly":
        super().train(mode)
        self.backbone.eval()  # or BatchNorm goes on updating its statistics
        return self

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        features = self.backbone(images)  # (N, F)
        return self.head(features)


if __name__ == "__main__":
    torch.manual_seed(0)
    # For real work: resnet18(weights=ResNet18_Weights.DEFAULT), a download
    model = HeadOnly(resnet18(weights=None), num_classes=5)
    optimizer = torch.optim.AdamW(model.head.parameters(), lr=1e-3)
    images, target = torch.randn(10, 3, 64, 64), torch.arange(10) % 5
    before = copy.deepcopy(model.backbone.state_dict())
    first = F.cross_entropy(model(images), target)

    model.train()
    for _ in range(5):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(images), target)
        loss.backward()
        optimizer.step()

    assert loss < first
    for name, value in model.backbone.state_dict().items():
        assert torch.equal(value, before[name])
    print("the head learns; no weight or statistic of the backbone moves")
