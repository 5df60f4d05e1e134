"""Generate with a KV cache: each step computes only the new token."""

import torch
from torch import nn
from torch.nn.attention.bias import causal_lower_right
from torch.nn.functional import scaled_dot_product_attention


class CausalSelfAttention(nn.Module):
    """Attention that returns its keys and values for the next call."""

    def __init__(self, C, nh):
        super().__init__()
        self.nh = nh
        self.qkv, self.out = nn.Linear(C, 3 * C), nn.Linear(C, C)

    def forward(self, x, cache=None):  # x (B, T, C): the new tokens only
        B, T, C = x.shape
        qkv = self.qkv(x).view(B, T, 3, self.nh, C // self.nh)
        q, k, v = qkv.permute(2, 0, 3, 1, 4)  # each (B, nh, T, hs)
        if cache is not None:
            k = torch.cat([cache[0], k], dim=2)
            v = torch.cat([cache[1], v], dim=2)
        mask = causal_lower_right(T, k.shape[2])  # the last query sees all
        y = scaled_dot_product_attention(q, k, v, attn_mask=mask)
        y = y.transpose(1, 2).reshape(B, T, C)
        return self.out(y), (k, v)


if __name__ == "__main__":
    torch.manual_seed(0)
    layer, x = CausalSelfAttention(C=32, nh=4).eval(), torch.randn(1, 6, 32)
    with torch.no_grad():
        full, _ = layer(x)
        y, cache = layer(x[:, :4])  # the prompt, at once
        for t in range(4, 6):  # then a token at a time
            y, cache = layer(x[:, t : t + 1], cache)
            torch.testing.assert_close(y, full[:, t : t + 1])
    print("cached keys", list(cache[0].shape))
