"""Measure on a GPU how much memory activation checkpointing saves."""

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


class Checkpointed(nn.Sequential):
    """An nn.Sequential that keeps only the inputs of its blocks for backward.

    Source: torch.utils.checkpoint in the PyTorch reference
    """

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for block in self:
            x = checkpoint(block, x, use_reentrant=False)
        return x


def peak_bytes(model: nn.Module, x: torch.Tensor) -> int:
    """Return the highest memory in tensors during a forward and a backward.

    Args:
        model: on the current GPU; its gradients are cleared first.
        x: (N, D) the model's input, on the same GPU.

    Source: torch.cuda.max_memory_allocated in the PyTorch reference
    """
    model.zero_grad()
    torch.cuda.reset_peak_memory_stats()
    model(x).sum().backward()
    return torch.cuda.max_memory_allocated()


if __name__ == "__main__":
    N, D = 8192, 256
    with torch.device("cuda"):
        x = torch.randn(N, D)
        blocks = [
            nn.Sequential(nn.Linear(D, 4 * D), nn.GELU(), nn.Linear(4 * D, D))
            for _ in range(12)
        ]
    peak_bytes(nn.Sequential(*blocks), x)  # the first run sets up cuBLAS
    plain = peak_bytes(nn.Sequential(*blocks), x)
    assert peak_bytes(Checkpointed(*blocks), x) < plain / 2
    print("checkpointing more than halves the peak")
