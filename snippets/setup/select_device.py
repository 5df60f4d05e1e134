"""Pick the device to run on, and stop at once if it can not be used."""

import torch
from torch import nn


def select_device(name: str = "auto") -> torch.device:
    """Return the device called ``name``, or the best one for "auto".

    Args:
        name: "auto" takes this machine's accelerator (CUDA, ROCm, MPS, XPU),
            or the CPU if there is none. Any other name, such as "cuda:1" or
            "cpu", is taken literally: nothing else stands in for it.

    Raises:
        ValueError: this process has no device of that name.

    Source: torch.accelerator in the PyTorch reference
    """
    usable = ["cpu"]
    # Without the check, a CUDA build answers "cuda" on any machine.
    accelerator = torch.accelerator.current_accelerator(check_available=True)
    if accelerator is not None:
        kind, count = accelerator.type, torch.accelerator.device_count()
        usable = [kind, *(f"{kind}:{i}" for i in range(count)), "cpu"]
    if name == "auto":
        name = usable[0]
    if name not in usable:
        choice = ", ".join(usable)
        raise ValueError(f"No device {name!r} here. Choose from: {choice}")
    return torch.device(name)


if __name__ == "__main__":
    device = select_device()  # in a script, pass the value of --device
    model = nn.Linear(4, 2).to(device)  # moves the parameters in place
    x = torch.randn(3, 4, device=device)  # made there: nothing to copy
    assert model(x).device == model.weight.device == x.device

    assert select_device("cpu") == torch.device("cpu")
    try:
        select_device("cuda:")  # an index was forgotten
    except ValueError as error:
        print(str(error).split(" Choose")[0])
