"""Attention in one fused call: causal, or with a padding mask."""

import torch
from torch.nn.functional import scaled_dot_product_attention

torch.manual_seed(0)
B, nh, T, hs = 2, 4, 6, 8  # batch, heads, tokens, head size
q, k, v = torch.randn(3, B, nh, T, hs)  # (B, nh, T, hs)

y = scaled_dot_product_attention(q, k, v, is_causal=True)  # encoder: False

# Padding: True where a key may be seen, here 6 and 4 tokens.
keep = torch.arange(T) < torch.tensor([[6], [4]])  # (B, T)
y_pad = scaled_dot_product_attention(q, k, v, attn_mask=keep[:, None, None, :])

# The causal one, spelled out:
scores = q @ k.transpose(-2, -1) / hs**0.5  # (B, nh, T, T)
future = torch.ones(T, T, dtype=torch.bool).triu(1)
by_hand = scores.masked_fill(future, -torch.inf).softmax(-1) @ v
torch.testing.assert_close(y, by_hand)
