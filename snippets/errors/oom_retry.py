"""Out of memory in a step: run it again in smaller parts, same gradients."""

import torch
from torch import nn


def backward_in_parts(model, loss_fn, x, y, size):
    """Add the gradients of the mean loss, size samples at a time."""
    for a, b in zip(x.split(size), y.split(size), strict=True):
        loss = loss_fn(model(a), b) * (len(a) / len(x))
        loss.backward()


def backward_that_fits(model, loss_fn, x, y, size):
    """Halve size until the batch fits; return the size that did.

    Clears the gradients first. Raises OutOfMemoryError for a single sample.
    """
    while True:
        model.zero_grad()  # a failed try has left some
        try:
            backward_in_parts(model, loss_fn, x, y, size)
            return size
        except torch.OutOfMemoryError as error:
            message = str(error)  # not the error: it holds the tensors
        if size == 1:
            raise torch.OutOfMemoryError(message)
        torch.accelerator.empty_cache()  # outside except: they are free
        size //= 2


if __name__ == "__main__":
    torch.manual_seed(0)
    model, x, y = nn.Linear(8, 1), torch.randn(32, 8), torch.randn(32, 1)

    def small_gpu(module, args):
        """Stand for a GPU that holds 10 samples."""
        if len(args[0]) > 10:
            raise torch.OutOfMemoryError("CUDA out of memory.")

    model.register_forward_pre_hook(small_gpu)
    print("fits:", backward_that_fits(model, nn.MSELoss(), x, y, size=32))
