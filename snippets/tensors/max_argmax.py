"""Take the largest value and its index along a dimension, or over all."""

import torch

scores = torch.tensor([[0.0, 0.75, 0.25], [0.5, 0.125, 0.375]])  # (B, C)

predicted = scores.argmax(dim=1)  # (B,): the class of each row
values, indices = scores.max(dim=1)  # two tensors, (B,) and (B,)
largest = scores.amax(dim=(0, 1))  # values alone, of several dimensions
row, column = torch.unravel_index(scores.argmax(), scores.shape)
limited = torch.maximum(scores, torch.tensor(0.25))  # of two tensors

assert torch.equal(predicted, indices)
print("predicted", predicted.tolist(), "with", values.tolist())
print(f"largest {largest:.2f} at row {row}, column {column}")
