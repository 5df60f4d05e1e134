"""CTC loss: (T, N, C) log-probabilities; 0 is the blank, labels begin at 1."""

import torch
from torch import nn

torch.manual_seed(0)
N, T, C = 2, 50, 28  # batch, frames, classes: the blank and 27 letters
logits = torch.randn(N, T, C, requires_grad=True)  # (N, T, C), of the model
targets = torch.randint(1, C, (N, 10))  # (N, S), padded with anything
input_lengths = torch.tensor([50, 40])  # frames of each sample, in the logits
target_lengths = torch.tensor([10, 7])  # labels of each sample

loss_fn = nn.CTCLoss(blank=0, zero_infinity=True)
log_probs = logits.float().log_softmax(-1)
log_probs = log_probs.transpose(0, 1)  # (T, N, C)
loss = loss_fn(log_probs, targets, input_lengths, target_lengths)

loss.backward()
print(f"loss {loss:.2f}")
