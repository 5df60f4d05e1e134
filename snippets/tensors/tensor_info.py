"""Print what a tensor is: shape, dtype, device, memory layout, gradient."""

import torch


def describe(tensor: torch.Tensor) -> str:
    """Return one line to print next to the operation that fails.

    It looks only at the description of the tensor, never at the values, so
    a GPU does not have to finish computing them.

    Args:
        tensor: any shape (also empty), dtype and device; not sparse.

    Source: torch.Tensor, attributes and methods, in the PyTorch reference
    """
    facts = [
        f"{tuple(tensor.shape)}",
        f"{tensor.dtype} on {tensor.device}",
        f"stride {tensor.stride()}",  # elements to skip, per dimension
        "contiguous" if tensor.is_contiguous() else "not contiguous",
    ]
    if tensor.requires_grad:
        facts.append("requires grad")
    return ", ".join(facts)


if __name__ == "__main__":
    images = torch.zeros(8, 3, 4, 5)  # (N, C, H, W), but only by convention
    weight = torch.zeros(2, 3, dtype=torch.bfloat16, requires_grad=True)

    assert images.shape == images.size() == (8, 3, 4, 5)  # a tuple
    assert images.ndim == len(images.shape) == 4
    assert images.size(0) == len(images) == 8
    assert images.numel() == 8 * 3 * 4 * 5
    assert images.nbytes == 4 * images.numel()  # 4 bytes per float32

    # The same shape, in another order in memory: channels last.
    pixels = images.to(memory_format=torch.channels_last)
    assert pixels.shape == images.shape

    for tensor in (images, pixels, weight, weight.T):
        print(describe(tensor))
