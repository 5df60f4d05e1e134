"""Free tensors, then give the unused part of the cache back to the driver."""

import gc
import weakref

import torch
from torch import nn


def release_memory() -> None:
    """Free what nothing refers to and return this process's unused blocks.

    A tensor survives while a name, a list, an optimizer, a graph or a
    traceback holds it. Other processes keep all that they have. Where CUDA
    has not been used, only the first step has something to do.

    Source: torch.cuda.empty_cache in the PyTorch reference
    """
    gc.collect()  # first: a cycle of references keeps its tensors in use
    torch.cuda.empty_cache()


if __name__ == "__main__":
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = nn.Linear(1000, 1000, device=device)
    optimizer = torch.optim.AdamW(model.parameters())
    weight = weakref.ref(model.weight)  # tells whether the tensor lives

    del model
    release_memory()
    assert weight() is not None
    print("without the model: still there, the optimizer holds it")

    del optimizer
    release_memory()
    assert weight() is None
    print("without the optimizer: freed")
