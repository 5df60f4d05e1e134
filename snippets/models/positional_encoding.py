"""Add positions to embeddings: a sinusoidal table, or a learned one."""

import torch
from torch import nn


class PositionalEncoding(nn.Module):
    """Add the table of sines to x (N, T, C)."""

    def __init__(self, C, T=5000):  # T: tokens of the longest text
        super().__init__()
        column = torch.arange(0, C, 2, dtype=torch.float32)  # not bfloat16
        angle = torch.arange(T)[:, None] / 1e4 ** (column / C)  # (T, C / 2)
        pe = torch.stack([angle.sin(), angle.cos()], -1).flatten(1)[:, :C]
        self.register_buffer("pe", pe, persistent=False)  # (T, C)

    def forward(self, x):  # batch_first
        return x + self.pe[: x.shape[1]].to(x.dtype)


if __name__ == "__main__":
    x = torch.zeros(2, 3, 6)  # embedded tokens (N, T, C)
    print(PositionalEncoding(6)(x)[0])

    learned = nn.Embedding(512, 6)  # texts of at most 512 tokens
    x = x + learned(torch.arange(x.shape[1], device=x.device))

    t = torch.tensor([0, 999])  # a time step for each image of a batch
    step = PositionalEncoding(64, T=1000).pe[t]  # (N, C)
    print(step.shape)
