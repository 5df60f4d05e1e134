"""Read a layer's output, and its gradient, with hooks."""

import torch
from torch import nn


def keep_output(module, args, output):
    """Run after the layer's forward; a returned value replaces it."""
    kept["output"] = output.detach().clone()  # a later ReLU may be in-place


def keep_gradient(module, grad_input, grad_output):
    """Run in backward(); both are tuples."""
    kept["gradient"] = grad_output[0]  # of the loss, for the layer's output


if __name__ == "__main__":
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
    layer = model[1]  # yours: a layer of the model, such as model.layer4
    x = torch.randn(3, 4)  # (N, C)

    kept = {}
    with layer.register_forward_hook(keep_output):  # removed at the end
        model(x)  # the whole model; kept["output"] is the layer's output

    print("output", tuple(kept["output"].shape))
    handle = layer.register_full_backward_hook(keep_gradient)
    model(x).sum().backward()
    handle.remove()
    print("gradient", tuple(kept["gradient"].shape))
