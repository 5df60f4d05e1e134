"""Find the label or the index that a GPU calls a device-side assert."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
emb, ids = nn.Embedding(10, 4), torch.tensor([7, 10])
logits = torch.randn(4, 3)  # (N, C)
target = torch.tensor([1, 3, 2, -100])  # (N,)

kept = target[target != -100]  # -100, or your ignore_index
print("labels", kept.unique().tolist(), "for", logits.size(1), "classes")
print(f"ids {ids.min()} to {ids.max()} of {emb.num_embeddings}")

for compute in (lambda: F.cross_entropy(logits, target), lambda: emb(ids)):
    try:
        compute()
    except IndexError as error:
        print("on the CPU:", error)

target[target != -100] -= 1  # these labels start at 1
print(f"fixed: the loss is {F.cross_entropy(logits, target):.2f}")
