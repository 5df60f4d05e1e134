"""Print a model: its layers, their output shapes and their parameters."""

from functools import partial

import torch
import torchinfo
from torch import nn


def summarize(model, *args):
    """Print output shape and parameters of every layer, without torchinfo.

    ``-`` marks what ``model(*args)`` does not call. Call ``model.eval()``
    first: in ``train()`` mode, BatchNorm updates its statistics. Layers
    return a tensor, or a tuple that starts with one.
    """
    shapes = {}

    def keep_shape(name, layer, args, output):
        first = output[0] if isinstance(output, tuple) else output
        shapes[name] = tuple(first.shape)

    hooks = [
        layer.register_forward_hook(partial(keep_shape, name))
        for name, layer in model.named_modules()
    ]
    try:
        with torch.no_grad():
            model(*args)
    finally:
        for hook in hooks:
            hook.remove()
    for name, layer in model.named_modules():
        shape = str(shapes.get(name, "-"))
        count = sum(p.numel() for p in layer.parameters())  # children, too
        print(f"{name:4} {type(layer).__name__:10} {shape:14} {count:>7,}")


if __name__ == "__main__":
    body = nn.Sequential(nn.Conv2d(1, 8, 3), nn.ReLU(), nn.MaxPool2d(2))
    model = nn.Sequential(body, nn.Flatten(), nn.Linear(8 * 13 * 13, 10))

    print(model)  # the layers, without shapes
    torchinfo.summary(model, input_size=(1, 1, 28, 28))  # a batch of 1
    summarize(model.eval(), torch.rand(1, 1, 28, 28))
