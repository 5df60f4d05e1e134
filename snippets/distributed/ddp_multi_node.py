"""Train on several machines: torchrun starts this same file on each."""

import os

import torch
import torch.distributed as dist
import torch.distributed.nn  # DDP would, and would keep the group alive
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


def join() -> torch.device:
    """Join the processes of all machines; return this process's device.

    Under plain python the process is alone: rank 0 of 1.

    Source: https://docs.pytorch.org/docs/stable/elastic/run.html
    """
    cuda, gpu = torch.cuda.is_available(), os.environ.get("LOCAL_RANK", 0)
    device = torch.device(f"cuda:{gpu}" if cuda else "cpu")
    if cuda:
        torch.cuda.set_device(device)  # else "cuda" is cuda:0 for all
    backend, device_id = ("nccl", device) if cuda else ("gloo", None)
    alone = {"store": dist.HashStore(), "rank": 0, "world_size": 1}
    options = {} if "RANK" in os.environ else alone
    dist.init_process_group(backend, device_id=device_id, **options)
    return device


def layout() -> list[list[int]]:
    """Return machine and local rank of every process, in order of rank."""
    own = [int(os.environ.get(k, 0)) for k in ("GROUP_RANK", "LOCAL_RANK")]
    places = [None] * dist.get_world_size()
    dist.all_gather_object(places, own)
    return places


def train(model: nn.Module, x: torch.Tensor, y: torch.Tensor) -> None:
    """Take 5 steps; x, (B, 8), and y, (B, 1), are this process's own."""
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(5):
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()


if __name__ == "__main__":
    device, rank = join(), dist.get_rank()
    machine, gpu = layout()[rank]
    torch.manual_seed(rank)  # stands for each process's share of the data
    x, y = torch.randn(16, 9, device=device).split([8, 1], dim=1)
    model = nn.Linear(8, 1).to(device)
    train(DDP(model), x, y)
    first = model.weight.detach().clone()  # (1, 8)
    dist.broadcast(first, src=0)
    assert torch.equal(model.weight, first)  # on every machine
    print(f"rank {rank}: machine {machine}, local rank {gpu}")
    dist.barrier()  # nobody leaves before all have checked
    dist.destroy_process_group()
