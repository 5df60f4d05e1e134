"""Mask the padding and the future in a Transformer encoder."""

import torch
from torch import nn

tokens = torch.tensor([[5, 2, 7, 3], [4, 9, 0, 0]])  # (N, T), 0 is padding
embedding, position = nn.Embedding(10, 16), nn.Embedding(64, 16)
layer = nn.TransformerEncoderLayer(16, nhead=4, batch_first=True)
encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
encoder.eval()  # no dropout, for the comparison below
x = embedding(tokens) + position(torch.arange(4))  # (N, T, C)

N, T = tokens.shape
padding = tokens == 0  # (N, T), True: nobody looks at this token
future = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(1)
y = encoder(x, mask=future, src_key_padding_mask=padding)  # BERT: no mask=

alone = encoder(x[1:, :2], mask=future[:2, :2])  # without its padding
torch.testing.assert_close(y[1, :2], alone[0])
