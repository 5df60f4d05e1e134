"""Find the label or the index that a GPU calls a device-side assert."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
device = torch.device("cpu")  # run your script on it

C, emb = 3, nn.Embedding(10, 4, device=device)
logits, ids = torch.randn(4, C), torch.tensor([7, 10])
target = torch.tensor([1, 3, 2, -100])  # -100 is ignored
for compute in (lambda: F.cross_entropy(logits, target), lambda: emb(ids)):
    try:
        compute()
    except IndexError as error:
        print("error:", error)

kept = target[target != -100]
print("labels", kept.unique().tolist(), "C =", C)
print("ids", ids.min().item(), "to", ids.max().item())

target[target != -100] -= 1  # these labels start at 1
print(f"fixed: the loss is {F.cross_entropy(logits, target):.2f}")
