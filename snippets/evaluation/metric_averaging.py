"""Average the loss of a data set over batches of different sizes."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
y = torch.arange(6.0)
loader = DataLoader(TensorDataset(y * 0, y), batch_size=4)  # 4 and 2
model, loss_fn = nn.Identity(), nn.L1Loss()  # yours: any loss with a mean

model.eval()
total = count = 0
with torch.inference_mode():
    for x, y in loader:
        loss = loss_fn(model(x.to(device)), y.to(device))  # mean of the batch
        total += loss.item() * len(y)
        count += len(y)
mean = total / count

batches = [loss_fn(x, y) for x, y in loader]
print(f"mean {mean:.2f}, mean of the batch means {sum(batches) / 2:.2f}")
