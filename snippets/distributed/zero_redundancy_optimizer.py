"""Shard AdamW's state over the processes of DDP, and save it whole."""

import os

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.optim import ZeroRedundancyOptimizer as ZeRO
from torch.nn.parallel import DistributedDataParallel as DDP


def train(model, loader, loss_fn, optimizer, device):
    """Train as with any optimizer."""
    model.train()
    for x, y in loader:
        x, y = x.to(device), y.to(device)
        optimizer.zero_grad()
        loss_fn(model(x), y).backward()
        optimizer.step()


def main():
    """Shard the state of four tensors, save it, and go on from the file."""
    torch.manual_seed(int(os.environ["RANK"]))  # other data in each process
    x, y = torch.randn(2, 3, 16, 8)
    loader = list(zip(x, y, strict=True))
    model = nn.Sequential(nn.Linear(8, 64), nn.Tanh(), nn.Linear(64, 8))
    loss_fn = nn.MSELoss()

    own = torch.device("cuda", int(os.environ["LOCAL_RANK"]))  # by torchrun
    gpu = own if torch.cuda.is_available() else None
    torch.cuda.set_device(gpu or -1)  # without a GPU: -1 does nothing
    dist.init_process_group("nccl" if gpu else "gloo", device_id=gpu)
    device = gpu or torch.device("cpu")
    model = DDP(model.to(device))
    optimizer = ZeRO(model.parameters(), torch.optim.AdamW, lr=0.01)  # your lr
    train(model, loader, loss_fn, optimizer, device)
    optimizer.consolidate_state_dict(to=0)  # all processes call it
    if dist.get_rank() == 0:  # a file that a plain AdamW loads, too
        torch.save(optimizer.state_dict(), "optimizer.pt")

    if dist.get_rank() == 0:
        saved = torch.load("optimizer.pt", weights_only=True)["state"]
        kept = optimizer.optim.state
        print(f"rank 0 keeps the state of {len(kept)} of {len(saved)} tensors")
    dist.destroy_process_group()


if __name__ == "__main__":
    if "RANK" not in os.environ:  # not started by torchrun: one process
        os.environ.update(RANK="0", WORLD_SIZE="1", LOCAL_RANK="0")
        os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="0")
    main()
