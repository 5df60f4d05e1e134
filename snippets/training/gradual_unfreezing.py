"""Fine-tune the head first, and unfreeze one more stage every epoch."""

import torch
from torch import nn
from torchvision.models import resnet18

torch.manual_seed(0)
model = resnet18(num_classes=5)  # yours: pretrained, with a new head
loader = [(torch.randn(4, 3, 32, 32), torch.randint(5, (4,)))]

stages = [model.fc, model.layer4, model.layer3]  # from the output back
model.requires_grad_(False)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)  # of all stages
for epoch in range(3):
    model.eval()  # what is frozen: BatchNorm and dropout, too
    for stage in stages[: epoch + 1]:
        stage.requires_grad_(True).train()
    # Now train for one epoch.
    for x, y in loader:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
    trained = sum(p.numel() for p in model.parameters() if p.requires_grad)
    print(f"epoch {epoch}: {trained:,} weights train")
