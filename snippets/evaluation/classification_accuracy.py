"""Compute top-1 and top-5 accuracy over a whole data set."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
gpu = torch.accelerator.current_accelerator(check_available=True)
device = gpu or torch.device("cpu")
dataset = TensorDataset(torch.randn(103, 20), torch.randint(10, (103,)))
loader = DataLoader(dataset, batch_size=32)  # 32, 32, 32 and 7
model = nn.Sequential(nn.Dropout(), nn.Linear(20, 10)).to(device)

model.eval()  # dropout off
top1 = top5 = total = 0
with torch.inference_mode():
    for x, y in loader:
        logits, y = model(x.to(device)), y.to(device)  # (B, C), (B,)
        top1 += (logits.argmax(1) == y).sum()
        top5 += (logits.topk(5).indices == y[:, None]).sum()
        total += len(y)
print(f"top-1 {top1 / total:.1%}, top-5 {top5 / total:.1%}")
