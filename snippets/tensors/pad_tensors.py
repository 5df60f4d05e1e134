"""Pad a tensor at chosen sides, or sequences to one length."""

import torch
from torch.nn import functional as F
from torch.nn.utils.rnn import pad_sequence

image = torch.arange(6.0).reshape(1, 2, 3)  # (C, H, W)
H, W = image.shape[-2:]
padded = F.pad(image, (1, 2, 0, 1))  # left, right, top, bottom: (1, 3, 6)
mirrored = F.pad(image, (1, 1, 1, 1), mode="reflect")  # (1, 4, 5)
whole = F.pad(image, (0, -W % 32, 0, -H % 32))  # to multiples of 32

tokens = torch.tensor([5, 3, 8])
fixed = F.pad(tokens, (0, 6 - len(tokens)), value=-100)  # to length 6
sequences = [tokens, torch.tensor([7])]
right = pad_sequence(sequences, batch_first=True, padding_value=-100)
left = pad_sequence(sequences, batch_first=True, padding_side="left")

print(padded)
print(fixed.tolist(), right.tolist(), left.tolist(), sep="\n")
print(mirrored[0, 0].tolist(), tuple(whole.shape))
