"""Find what keeps a graph alive from step to step, without a GPU."""

import gc
from collections import Counter

import torch
from torch import nn


def living_graphs():
    """Count the living tensors that refer to a graph, by operation and shape.

    A count that grows from step to step is the leak.
    """
    gc.collect()
    tensors = [
        t for t in gc.get_objects() if issubclass(type(t), torch.Tensor)
    ]
    return Counter(
        f"{t.grad_fn.name()} {tuple(t.shape)}" for t in tensors if t.grad_fn
    )


if __name__ == "__main__":
    model, leak, losses, outputs = nn.Linear(64, 8), [], [], []
    for step, x in enumerate(torch.randn(3, 32, 64)):
        loss = model(x).square().mean()
        leak.append(loss)  # the mistake: it refers to its graph
        losses.append(loss.item())  # a number has no graph
        with torch.no_grad():  # evaluation: no graph at all
            outputs.append(model(x).cpu())  # and not in GPU memory
        print(f"step {step}:", dict(living_graphs()))
