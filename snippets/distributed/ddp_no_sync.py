"""Accumulate gradients with DDP, and synchronize once per update."""

import os
from contextlib import nullcontext

import torch
import torch.distributed as dist
import torch.distributed.nn  # before the group: else gloo may abort at exit
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


def train(model, loader, loss_fn, optimizer, steps):
    """Update once per group of `steps` batches; the last may be smaller."""
    for i, (x, y) in enumerate(loader):
        group = min(steps, len(loader) - i // steps * steps)
        last = (i + 1) % steps == 0 or i + 1 == len(loader)
        with nullcontext() if last else model.no_sync():
            # Both passes are inside: forward and backward.
            (loss_fn(model(x), y) / group).backward()
        if last:
            optimizer.step()
            optimizer.zero_grad()


def main():
    """Fit a line, and compare with large batches in one process."""
    if "RANK" not in os.environ:  # not started by torchrun: one process
        os.environ.update(RANK="0", WORLD_SIZE="1", LOCAL_RANK="0")
        os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="0")
    gpu = None
    if torch.cuda.is_available():
        gpu = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
        torch.cuda.set_device(gpu)
    dist.init_process_group("nccl" if gpu else "gloo", device_id=gpu)

    torch.manual_seed(0)  # the same data in all processes
    x_all, y_all = torch.randn(2, 48, 1, device=gpu)
    share = slice(dist.get_rank(), None, dist.get_world_size())
    x, y = x_all[share].chunk(6), y_all[share].chunk(6)
    loader = list(zip(x, y, strict=True))  # 6 batches in each process
    model = DDP(nn.Linear(1, 1, bias=False, device=gpu))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    w = model.module.weight.item()
    train(model, loader, nn.MSELoss(), optimizer, steps=4)

    # By hand, with the 32 and the last 16 samples: the same weight.
    for x, y in zip(x_all.split(32), y_all.split(32), strict=True):
        w -= 0.1 * 2 * (x * (x * w - y)).mean().item()
    assert abs(model.module.weight.item() - w) < 1e-5
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
