"""Turn a list of tensors, arrays or numbers into one tensor."""

import numpy as np
import torch
from torch.nn.utils.rnn import pad_sequence

images = [torch.rand(3, 8, 8) for _ in range(4)]
batches = [torch.rand(4, 5), torch.rand(2, 5)]
arrays = [np.random.rand(5) for _ in range(4)]
sentences = [torch.tensor([7, 8]), torch.tensor([4, 5, 6])]
losses = [torch.tensor(0.5, requires_grad=True), torch.tensor(0.25)]
numbers = [[1.0, 2.0], [3.0, 4.0]]

batch = torch.stack(images)  # (N, C, H, W): a new dimension

rows = torch.cat(batches)  # the dimension they have gets longer
table = torch.from_numpy(np.stack(arrays)).float()  # (N, D)
padded = pad_sequence(sentences, batch_first=True)  # (N, T), 0 at the end
mean = torch.stack(losses).mean()  # gradients are kept
matrix = torch.tensor(numbers)

print("stack", tuple(batch.shape), "cat", tuple(rows.shape))
print("arrays", tuple(table.shape), "numbers", tuple(matrix.shape))
print("pad", padded.tolist())
print("mean", mean.item(), "with gradient:", mean.requires_grad)
