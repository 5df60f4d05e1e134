"""Name the unused layers; see the error in two processes, and two mends."""

import tempfile
from pathlib import Path

import torch
import torch.distributed as dist
import torch.distributed.nn  # before the group: else gloo may abort at exit
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


class Net(nn.Module):
    """Two heads, of which a step uses one."""

    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(4, 1), nn.Linear(4, 1)

    def forward(self, x, task="a"):
        return self.a(x) if task == "a" else self.b(x)


def train(model, task="a"):
    """Run forward and backward twice."""
    for _ in range(2):
        model.zero_grad()
        model(torch.ones(2, 4), task).sum().backward()
    return model


def work(rank, folder):
    """Be one of two processes."""
    address = Path(folder, "store").as_uri()
    dist.init_process_group("gloo", address, rank=rank, world_size=2)
    try:
        train(DDP(Net()))
    except RuntimeError as error:
        message = str(error).partition(" before")[0]
    net = Net()
    net.b.requires_grad_(False)  # a layer that no step uses: freeze it
    train(DDP(net))
    ddp = DDP(Net(), find_unused_parameters=True)  # some steps use it
    train(ddp, task="ab"[rank])
    if rank == 0:
        print("error:", message)
        mean = ddp.module.b.bias.grad.item()
        print("b gets 0 from rank 0, 2 from rank 1:", mean)
    dist.destroy_process_group()


if __name__ == "__main__":
    net = train(Net())  # yours: the model without DDP, after backward()
    for name, p in net.named_parameters():
        if p.requires_grad and p.grad is None:
            print("no gradient:", name)
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(work, args=(folder,), nprocs=2)
