"""Attention with your own mask, in a fused kernel: FlexAttention."""

import torch
from torch.nn.attention.flex_attention import create_block_mask, flex_attention


def window(b, h, q_idx, kv_idx):
    """True where a query may see a key: itself and the 127 before it."""
    return (q_idx >= kv_idx) & (q_idx - kv_idx < 128)


def alibi(score, b, h, q_idx, kv_idx):
    """Lower the scores of distant keys, in each head at another rate."""
    return score - torch.exp2(-(h + 1.0)) * (q_idx - kv_idx)


if __name__ == "__main__":
    q, k, v = torch.randn(3, 1, 2, 512, 16)  # (B, nh, T, hs) each
    T = q.shape[-2]
    flex = torch.compile(flex_attention)  # once; the first call compiles
    mask = create_block_mask(window, None, None, T, T, device=q.device)
    y = flex(q, k, v, block_mask=mask)
    y_alibi = flex(q, k, v, score_mod=alibi, block_mask=mask)

    h, i, j = torch.meshgrid(*map(torch.arange, (2, T, T)), indexing="ij")
    bias = alibi(0, 0, h, i, j).masked_fill(~window(0, h, i, j), -torch.inf)
    dense = torch.nn.functional.scaled_dot_product_attention
    torch.testing.assert_close(y_alibi, dense(q, k, v, attn_mask=bias))
    print(f"{mask.sparsity():.0f} % of the blocks are skipped")
