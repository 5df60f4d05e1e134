"""Compile a model, then train it on several GPUs with DDP."""

import os
from copy import deepcopy

import torch
import torch.distributed as dist
import torch.distributed.nn  # before the group: else gloo may abort at exit
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


class Model(nn.Module):
    """Some layers; yours is larger."""

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(*[nn.Linear(16, 16) for _ in range(4)])

    def forward(self, x):
        return x + self.layers(x).tanh()


def train(model, loader):
    """Take a step for each batch."""
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in loader:
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()


def main():
    """Train on a share of each batch, and compare with one process."""
    own = torch.device("cuda", int(os.environ["LOCAL_RANK"]))  # by torchrun
    gpu = own if torch.cuda.is_available() else None
    torch.cuda.set_device(gpu or -1)  # without a GPU: -1 does nothing
    dist.init_process_group("nccl" if gpu else "gloo", device_id=gpu)
    torch.manual_seed(0)
    model = Model().to(gpu or "cpu")
    x, y = torch.randn(2, 5, 8, 16, device=gpu)  # 5 batches of 8
    share = slice(dist.get_rank(), None, dist.get_world_size())
    loader = list(zip(x[:, share], y[:, share], strict=True))
    usual = deepcopy(model)

    model.compile()  # returns at once; the first step compiles
    ddp_model = DDP(model)  # after it
    train(ddp_model, loader)  # yours: as without compile
    state = model.state_dict()  # the usual names
    train(usual, zip(x, y, strict=True))  # whole batches, not compiled
    torch.testing.assert_close(state, usual.state_dict())
    dist.destroy_process_group()


if __name__ == "__main__":
    if "RANK" not in os.environ:  # not started by torchrun: one process
        os.environ.update(RANK="0", WORLD_SIZE="1", LOCAL_RANK="0")
        os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="0")
    main()
    torch.compiler.reset()  # its code holds the group, and gloo's threads
