"""Grouped-query attention: several query heads share one of k and v."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
B, T, C = 2, 6, 64  # batch, tokens, channels
nh, n_kv = 8, 2  # 4 query heads share a head of k and v
hs = C // nh  # head size, the same for q, k and v
q_proj = nn.Linear(C, nh * hs, bias=False)
kv_proj = nn.Linear(C, 2 * n_kv * hs, bias=False)

x = torch.randn(B, T, C)
q = q_proj(x).view(B, T, nh, hs).transpose(1, 2)  # (B, nh, T, hs)
kv = kv_proj(x).view(B, T, 2, n_kv, hs)
k, v = kv.permute(2, 0, 3, 1, 4)  # cache these two
# q (B, nh, T, hs); k and v (B, n_kv, T, hs)
y = F.scaled_dot_product_attention(
    q, k, v, is_causal=True, enable_gqa=True
)  # (B, nh, T, hs)
# The same by hand: q heads 0-3 take k head 0, q heads 4-7 take k head 1.
k, v = (t.repeat_interleave(nh // n_kv, dim=1) for t in (k, v))
by_hand = F.scaled_dot_product_attention(q, k, v, is_causal=True)
torch.testing.assert_close(y, by_hand)
