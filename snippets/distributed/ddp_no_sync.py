"""Accumulate gradients with DDP, and synchronize once per update."""

import os
from contextlib import nullcontext

import torch
import torch.distributed as dist
import torch.distributed.nn  # before the group: else gloo may abort at exit
from torch import nn
from torch.distributed import run
from torch.nn.parallel import DistributedDataParallel as DDP


def train(model, loader, loss_fn, optimizer, device, steps=4):
    """Update once per group of `steps` batches; the last may be smaller."""
    model.train()
    optimizer.zero_grad()
    for i, (x, y) in enumerate(loader):
        x, y = x.to(device), y.to(device)
        first = i - i % steps  # of this group
        group = min(steps, len(loader) - first)  # how many batches it has
        last = i + 1 == first + group
        with nullcontext() if last else model.no_sync():
            loss = loss_fn(model(x), y)  # inside, as backward()
            (loss / group).backward()
        if last:  # now the gradients are the mean over all processes
            optimizer.step()
            optimizer.zero_grad()


def main():
    """Fit a line, and compare with large batches in one process."""
    own = torch.device("cuda", int(os.environ["LOCAL_RANK"]))  # by torchrun
    gpu = own if torch.cuda.is_available() else None
    torch.cuda.set_device(gpu or -1)  # without a GPU: -1 does nothing
    dist.init_process_group("nccl" if gpu else "gloo", device_id=gpu)

    torch.manual_seed(0)  # the same data in all processes
    x_all, y_all = torch.randn(2, 48, 1)
    share = slice(dist.get_rank(), None, dist.get_world_size())
    x, y = x_all[share].chunk(6), y_all[share].chunk(6)
    loader = list(zip(x, y, strict=True))  # 6 batches in each process
    device = gpu or torch.device("cpu")
    model = DDP(nn.Linear(1, 1, bias=False).to(device))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    w = model.module.weight.item()
    train(model, loader, nn.MSELoss(), optimizer, device, steps=4)
    # By hand, with the 32 and the last 16 samples: the same weight.
    for x, y in zip(x_all.split(32), y_all.split(32), strict=True):
        w -= 0.1 * 2 * (x * (x * w - y)).mean().item()
    assert abs(model.module.weight.item() - w) < 1e-5
    dist.destroy_process_group()


if __name__ == "__main__" and "RANK" not in os.environ:
    n = torch.cuda.device_count() or 2  # plain python: start torchrun
    run.main(["--standalone", f"--nproc-per-node={n}", __file__])
elif __name__ == "__main__":
    main()
