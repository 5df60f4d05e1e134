"""Wrap a model in the legacy nn.DataParallel, and unwrap it to save it."""

import torch
from torch import nn
from torch.nn.parallel import DataParallel, DistributedDataParallel


def data_parallel(model: nn.Module) -> DataParallel:
    """Split every batch over all GPUs of this machine, in one process.

    Legacy: PyTorch recommends DistributedDataParallel on one machine too.

    Args:
        model: moved to the first GPU, if there is one.

    Returns:
        The wrapper: takes (B, ...), splits it along B, and returns
        (B, ...) on the first GPU. Without GPUs it only calls the model.

    Source: https://docs.pytorch.org/docs/stable/notes/cuda.html
    """
    device = "cuda:0" if torch.cuda.is_available() else "cpu"
    return DataParallel(model.to(device))


def unwrap(model: nn.Module) -> nn.Module:
    """Return the model inside a wrapper, or the model itself without one."""
    wrappers = DataParallel, DistributedDataParallel
    return model.module if isinstance(model, wrappers) else model


if __name__ == "__main__":
    net = nn.Linear(8, 2)
    model = data_parallel(net)
    x = torch.randn(6, 8)  # may stay on the CPU: the wrapper deals it out
    y = model(x)  # (6, 2)
    torch.testing.assert_close(y, net(x.to(y.device)))
    print("wrapped:  ", *model.state_dict())
    print("unwrapped:", *unwrap(model).state_dict())
    nn.Linear(8, 2).load_state_dict(unwrap(model).state_dict())
