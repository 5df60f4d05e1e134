"""Read the texts from the output of a CTC model: the best path."""

import torch

best = torch.tensor([[3, 3, 0, 3, 5, 5, 0], [0, 7, 7, 7, 7, 4, 4]])
logits = torch.nn.functional.one_hot(best, 28).float()  # (N, T, C)
input_lengths = torch.tensor([7, 5])  # frames of each sample

texts = []
for path, length in zip(logits.argmax(-1), input_lengths, strict=True):
    path = path[:length].unique_consecutive()  # merge repeats
    texts.append(path[path != 0].tolist())  # then drop the blanks

print(texts)
