"""Attention with your own mask, in a fused kernel: FlexAttention."""

import torch
from torch.nn.attention.flex_attention import create_block_mask, flex_attention


def window(b, h, q_idx, kv_idx):
    """True where a query may see a key: itself and the 127 before it."""
    return (q_idx >= kv_idx) & (q_idx - kv_idx < 128)


if __name__ == "__main__":
    q, k, v = torch.randn(3, 1, 2, 512, 16)  # (B, nh, T, hs) each
    T = q.shape[-2]
    flex = torch.compile(flex_attention)  # once; the first call compiles
    mask = create_block_mask(window, None, None, T, T, device=q.device)
    y = flex(q, k, v, block_mask=mask)

    i = torch.arange(T)
    dense = window(0, 0, i[:, None], i)  # (T, T)
    sdpa = torch.nn.functional.scaled_dot_product_attention
    torch.testing.assert_close(y, sdpa(q, k, v, attn_mask=dense))
    print(f"{mask.sparsity():.0f} % of the blocks are skipped")
