"""Move tensors and models to a device, and check that everything went."""

from itertools import chain

import torch
from torch import nn


def device_of(model: nn.Module) -> torch.device:
    """Return the device on which all of a model's tensors are.

    Args:
        model: its parameters and buffers count, plain attributes do not.

    Raises:
        ValueError: they are on several devices, or there are none.

    Source: torch.nn.Module.to in the PyTorch reference
    """
    tensors = chain(model.parameters(), model.buffers())
    devices = {tensor.device for tensor in tensors}
    if len(devices) != 1:
        names = sorted(map(str, devices))
        raise ValueError(f"Expected all tensors on one device, found {names}")
    return devices.pop()


if __name__ == "__main__":
    device = torch.accelerator.current_accelerator(check_available=True)
    # "meta" stands in for a GPU: its tensors have a shape and no values.
    device = device or torch.device("meta")

    x = torch.ones(8, 4)
    moved = x.to(device)  # a tensor: x stays where it is
    assert x.device.type == "cpu" and moved.device.type == device.type

    model = nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3))
    assert model.to(device) is model  # a module: moved itself
    assert device_of(model) == moved.device

    y = model(moved)
    target = torch.zeros(8, 3, device=y.device)  # made there, not moved
    assert (y - target).device == moved.device
    print(f"x is on {x.device}, the model on {device_of(model)}")
