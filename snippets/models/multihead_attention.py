"""Multi-head attention: torch's layer, and the same in a few lines."""

import torch
from torch import nn
from torch.nn import functional as F


class SelfAttention(nn.Module):
    """Attention of x (N, T, C) to itself; keep (N, T) is True at a token."""

    def __init__(self, dim, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.qkv = nn.Linear(dim, 3 * dim)
        self.out_proj = nn.Linear(dim, dim)

    def forward(self, x, keep=None):
        qkv = self.qkv(x).unflatten(-1, (3, self.num_heads, -1))
        q, k, v = qkv.permute(2, 0, 3, 1, 4)  # each (N, nh, T, hs)
        mask = None if keep is None else keep[:, None, None, :]
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return self.out_proj(y.transpose(1, 2).flatten(2))  # (N, T, C)


if __name__ == "__main__":
    torch.manual_seed(0)
    x = torch.randn(2, 5, 16)  # (N, T, C)
    lengths = torch.tensor([[5], [3]])  # tokens of each text
    padding = torch.arange(5) >= lengths  # (N, T), True: ignore

    attention = nn.MultiheadAttention(16, num_heads=4, batch_first=True)
    y, weights = attention(x, x, x, key_padding_mask=padding)

    print(y.shape, weights.shape)  # (N, T, C), (N, query, key)

    own = SelfAttention(16, 4)  # with the weights of torch's layer
    own.qkv.weight = attention.in_proj_weight
    own.qkv.bias = attention.in_proj_bias
    own.out_proj = attention.out_proj
    torch.testing.assert_close(own(x, keep=~padding), y)
