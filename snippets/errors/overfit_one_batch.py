"""Overfit one batch: a sound model and loop bring its loss to zero."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
images, labels = torch.randn(16, 3, 8, 8), torch.randint(5, (16,))
model = nn.Sequential(nn.Conv2d(3, 16, 3), nn.BatchNorm2d(16), nn.ReLU())
model.extend([nn.Flatten(), nn.Dropout(0.5), nn.Linear(16 * 6 * 6, 5)])
model.to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
loss_fn = nn.CrossEntropyLoss()
loader = DataLoader(TensorDataset(images, labels), batch_size=16)

x, y = next(iter(loader))  # once, before the loop
x, y = x.to(device), y.to(device)
for module in model.modules():  # noise would keep the loss above zero
    if isinstance(module, (nn.Dropout, nn.Dropout2d)):
        module.p = 0.0
for _ in range(100):  # the same x and y in every step
    optimizer.zero_grad()
    logits = model(x)
    loss = loss_fn(logits, y)
    loss.backward()
    optimizer.step()
print(f"loss {loss:.2f}")

accuracy = (logits.argmax(1) == y).float().mean()
print(f"accuracy {accuracy:.0%}")
