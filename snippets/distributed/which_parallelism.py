"""Estimate the memory that training needs on each GPU, before choosing."""

import torch
from torchvision.models import vit_b_16


def gib_per_gpu(model, gpus=1):
    """Weights, gradients and AdamW's state in GiB; activations come on top."""
    weights = sum(p.nbytes for p in model.parameters())
    trained = sum(p.nbytes for p in model.parameters() if p.requires_grad)
    return (weights + 3 * trained) / gpus / 2**30  # gradient, two of AdamW


with torch.device("meta"):  # shapes only, nothing is allocated
    model = vit_b_16()
print(f"DDP: {gib_per_gpu(model):.2f} GiB on each GPU")
print(f"FSDP on 8: {gib_per_gpu(model, 8):.2f} GiB on each GPU")
