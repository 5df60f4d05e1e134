"""Run an LSTM over sequences of different lengths, without the padding."""

import torch
from torch import nn

lstm = nn.LSTM(3, 5, bidirectional=True, batch_first=True)
sequences = [torch.randn(length, 3) for length in (2, 5, 3)]
lengths = torch.tensor([len(s) for s in sequences])  # (N,)
padded = nn.utils.rnn.pad_sequence(sequences, batch_first=True)  # (N, T, C)

packed = nn.utils.rnn.pack_padded_sequence(
    padded, lengths.cpu(), batch_first=True, enforce_sorted=False
)
output, (h_n, c_n) = lstm(packed)  # h_n: each at its own last step
output, _ = nn.utils.rnn.pad_packed_sequence(
    output, batch_first=True, total_length=padded.shape[1]
)

# The mean over the real steps of each sequence.
mask = torch.arange(padded.shape[1]) < lengths[:, None]  # (N, T)
mean = (output * mask[..., None]).sum(1) / lengths[:, None]
torch.testing.assert_close(mean[0], lstm(sequences[0])[0].mean(0))
