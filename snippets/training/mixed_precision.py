"""Train in mixed precision with bfloat16: one context manager, no scaler."""

import torch
from torch import nn

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
layers = nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 3)
model = nn.Sequential(*layers).to(device)  # the weights stay float32
loss_fn = nn.CrossEntropyLoss()
optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
data = torch.randn(96, 20)  # its label: the largest of the first three
loader = [(data, data[:, :3].argmax(1))] * 20  # yours: a DataLoader

for x, y in loader:
    x, y = x.to(device), y.to(device)
    optimizer.zero_grad()
    with torch.autocast(x.device.type, dtype=torch.bfloat16):
        logits = model(x)  # bfloat16
        loss = loss_fn(logits, y)  # float32
    loss.backward()  # outside the block
    optimizer.step()

print(f"loss {loss:.1f}; outputs {logits.dtype}, loss {loss.dtype}")
