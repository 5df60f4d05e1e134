"""Pad a tensor at chosen sides, or sequences to one length."""

import torch
from torch.nn import functional as F
from torch.nn.utils.rnn import pad_sequence

image = torch.arange(6.0).reshape(1, 2, 3)  # (C, H, W)
sequences = [torch.tensor([5, 3, 8]), torch.tensor([7])]  # yours: token ids

padded = F.pad(image, (1, 2, 0, 1))  # left, right, top, bottom
ids = pad_sequence(sequences, batch_first=True)  # (B, T): 0 at the end
labels = pad_sequence(sequences, batch_first=True, padding_value=-100)

H, W = image.shape[-2:]
whole = F.pad(image, (0, -W % 32, 0, -H % 32))  # to multiples of 32
mirrored = F.pad(image, (1, 1, 1, 1), mode="reflect")  # (1, 4, 5)
left = pad_sequence(sequences, batch_first=True, padding_side="left")
fixed = F.pad(sequences[0], (0, 6 - len(sequences[0])))  # to length 6

print(padded)
print(ids.tolist(), labels.tolist(), left.tolist(), fixed.tolist(), sep="\n")
print(mirrored[0, 0].tolist(), tuple(whole.shape))
