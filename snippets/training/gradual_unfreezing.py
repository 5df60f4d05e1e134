"""Fine-tune the head first, and unfreeze one more stage every epoch."""

import torch
from torch import nn
from torchvision.models import resnet18

torch.manual_seed(0)
device, loss_fn = torch.device("cpu"), nn.CrossEntropyLoss()
model = resnet18(num_classes=5).to(device)  # yours: pretrained, a new head
loader = [(torch.randn(4, 3, 32, 32), torch.randint(5, (4,)))]
epochs = 3

stages = [model.fc, model.layer4, model.layer3]  # from the output back
model.requires_grad_(False)
groups = [{"params": s.parameters(), "lr": 1e-3} for s in stages]
for i, group in enumerate(groups):
    group["lr"] /= 3**i  # pretrained weights need smaller steps than the head
optimizer = torch.optim.AdamW(groups)
for epoch in range(epochs):
    model.eval()  # what is frozen: BatchNorm and dropout, too
    for stage in stages[: epoch + 1]:
        stage.requires_grad_(True).train()
    for x, y in loader:  # without model.train(), which would undo the modes
        x, y = x.to(device), y.to(device)
        optimizer.zero_grad()
        loss_fn(model(x), y).backward()
        optimizer.step()

frozen = [n for n, p in model.named_parameters() if not p.requires_grad]
print("still frozen:", *sorted({name.split(".")[0] for name in frozen}))
