"""Pick elements of each row by index, with gather and take_along_dim."""

import torch

logits = torch.tensor([[0.5, 2.0, 0.25], [1.5, 1.0, 0.75]])  # (B, C)
label = torch.tensor([1, 2])  # (B,), int64
index = torch.tensor([[2, 0], [1, 1]])  # (B, K)
hidden = torch.arange(24.0).reshape(2, 4, 3)  # (B, T, D)
end = torch.tensor([1, 3])  # (B,): length of each sequence, minus 1

picked = logits.gather(1, label[:, None]).squeeze(1)  # (B,)
several = logits.gather(1, index)  # (B, K): logits[b, index[b, k]]
last = torch.take_along_dim(hidden, end[:, None, None], 1)[:, 0]  # (B, D)

assert torch.equal(picked, logits[torch.arange(2), label])  # the same
print("picked", picked.tolist())
print("several", several.tolist())
print("last", last.tolist())
