"""Print what every layer gets and gives, to find where shapes do not fit."""

import torch
from torch import nn
from torch.nn.modules.module import register_module_forward_hook


def size(x):
    """Of a tensor, or of each in a tuple."""
    return [*map(size, x)] if isinstance(x, tuple) else getattr(x, "shape", x)


def print_shapes(model, x):
    """Run the model once, and print each layer when it is done or fails."""

    def show(layer, args, out):  # out is None if the layer fails
        print(names.get(layer), size(args), "->", size(out))

    names = {m: f"{name} {m._get_name()}" for name, m in model.named_modules()}
    with register_module_forward_hook(show, always_call=True):
        model(x)


if __name__ == "__main__":
    model = nn.Sequential(
        nn.Conv2d(1, 6, 5),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(600, 10),  # wrong
    )
    try:
        print_shapes(model, torch.randn(8, 1, 28, 28))
    except RuntimeError:
        print("the first None: this layer fails")
