"""Build a LLaMA block from its parts: RMSNorm, RoPE and SwiGLU."""

import torch
from torch import nn
from torch.nn import functional as F


def rope(x, pos, theta=10000.0):
    """Rotate each head of x (B, nh, T, hs) by its token's position, pos (T,).

    Source: Su et al. 2021, RoFormer; the layout of Hugging Face's Llama.
    """
    a, b = x.chunk(2, dim=-1)  # each (B, nh, T, hs / 2)
    i = torch.arange(a.shape[-1], device=pos.device).float()
    angle = pos[..., None] * theta ** (-i / len(i))  # (T, hs / 2)
    cos, sin = angle.cos().to(x), angle.sin().to(x)
    return torch.cat([a * cos - b * sin, b * cos + a * sin], dim=-1)


class LlamaBlock(nn.Module):
    """From (B, T, C) to (B, T, C), with nh heads; pos is (T,)."""

    def __init__(self, C, nh, hidden):
        super().__init__()
        self.nh = nh
        self.norm1 = nn.RMSNorm(C, eps=1e-5)
        self.norm2 = nn.RMSNorm(C, eps=1e-5)
        self.qkv = nn.Linear(C, 3 * C, bias=False)
        self.out = nn.Linear(C, C, bias=False)
        self.gate = nn.Linear(C, hidden, bias=False)
        self.up = nn.Linear(C, hidden, bias=False)
        self.down = nn.Linear(hidden, C, bias=False)

    def forward(self, x, pos):
        B, T, C = x.shape
        qkv = self.qkv(self.norm1(x)).view(B, T, 3, self.nh, C // self.nh)
        q, k, v = qkv.permute(2, 0, 3, 1, 4)  # each (B, nh, T, hs)
        q, k = rope(q, pos), rope(k, pos)  # pos: arange(T); not v
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(B, T, C))
        h = self.norm2(x)
        return x + self.down(F.silu(self.gate(h)) * self.up(h))  # SwiGLU


if __name__ == "__main__":
    torch.manual_seed(0)
    block, x = LlamaBlock(C=64, nh=4, hidden=172), torch.randn(2, 6, 64)
    pos = torch.arange(6)
    y = block(x, pos)
    # Only distances count: moved by 3, the text gives the same.
    torch.testing.assert_close(block(x, pos + 3), y)
    off = (block(x, 0 * pos) - y).abs().max()
    print(f"without RoPE the output differs by up to {off:.2f}")
