"""Mean, maximum and softmax over the real tokens of a padded batch."""

import torch

x = torch.randn(3, 4, 2)  # (N, T, C): three texts, padded to four tokens
lengths = torch.tensor([4, 2, 0])  # (N,); the last text is empty
scores = torch.randn(3, 4)  # (N, T), one for each token

steps = torch.arange(x.shape[1], device=x.device)
mask = steps < lengths.to(x.device)[:, None]  # (N, T), True at a token
m = mask[..., None]  # (N, T, 1)
count = m.sum(1, keepdim=True).clamp(min=1)  # (N, 1, 1)
mean = (x.masked_fill(~m, 0) / count).sum(1)  # (N, C)

largest = x.masked_fill(~m, -torch.inf).amax(1)  # (N, C)
weights = scores.masked_fill(~mask, -torch.inf).softmax(1)
weights = weights.nan_to_num(0)  # an empty text: NaN to 0

torch.testing.assert_close(mean[1], x[1, :2].mean(0))
torch.testing.assert_close(largest[1], x[1, :2].amax(0))
torch.testing.assert_close(weights[1, :2], scores[1, :2].softmax(0))
print("an empty text:", mean[2], largest[2], weights[2], sep="\n")
