"""Print what every layer gets and gives, to find where shapes do not fit."""

from functools import partial

import torch
from torch import nn
from torch.nn.modules.module import register_module_forward_hook
from torch.nn.utils.rnn import PackedSequence
from torch.utils._pytree import tree_map_only


def print_shapes(model, *args, **kwargs):
    """Run the model once, and print each layer when it is done or fails."""
    names = {m: f"{name} {m._get_name()}" for name, m in model.named_modules()}
    kinds = torch.Tensor, PackedSequence  # the shape of its data
    options = {"is_leaf": lambda t: isinstance(t, kinds)}
    shapes = partial(
        tree_map_only, kinds, lambda t: tuple(t.data.shape), **options
    )

    def show(layer, args, out):  # out is None if the layer fails
        print(names.get(layer), shapes(args), "->", shapes(out))

    with register_module_forward_hook(show, always_call=True):
        model(*args, **kwargs)


if __name__ == "__main__":
    model = nn.Sequential(
        nn.Conv2d(1, 6, 5),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(600, 10),  # wrong
    )
    x = torch.randn(8, 1, 28, 28)
    try:
        print_shapes(model, x)
    except RuntimeError:
        print("the first None: this layer fails")
