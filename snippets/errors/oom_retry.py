"""Out of memory in a step: run it again in smaller parts, same gradients."""

import re

import torch
from torch import nn


def backward_that_fits(model, loss_fn, x, y, size):
    """Zero the gradients, add those of parts that fit; return size, loss."""

    def run(a, b):  # its names end with it: a failed try keeps no graph
        loss = loss_fn(model(a), b) * len(a) / len(x)
        loss.backward()
        return loss.detach()

    while True:
        model.zero_grad()  # a failed try has left some
        try:
            n = -(-len(x) // size)  # parts of about equal size
            parts = zip(x.tensor_split(n), y.tensor_split(n), strict=True)
            return size, sum(run(a, b) for a, b in parts)
        except RuntimeError as error:  # cuBLAS and cuDNN say ALLOC_FAILED
            full = re.search("out of memory|ALLOC_FAILED", str(error))
            if size == 1 or not full:
                raise
        torch.cuda.empty_cache()  # outside except: all is free
        size //= 2


if __name__ == "__main__":
    torch.manual_seed(0)
    model, loss_fn = nn.Linear(8, 1), nn.MSELoss()
    x, y = torch.randn(32, 8), torch.randn(32, 1)  # (N, ...), (N, ...)

    def small_gpu(module, args):
        """Raise as a GPU does that holds 10 samples."""
        if len(args[0]) > 10:
            raise torch.OutOfMemoryError("CUDA out of memory.")

    model.register_forward_pre_hook(small_gpu)
    size = len(x)
    size, loss = backward_that_fits(model, loss_fn, x, y, size)  # keep size
    print(f"fits: {size}, loss {loss:.2f}")
