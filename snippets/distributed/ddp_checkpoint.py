"""Save a DDP model on rank 0; load it in every process to go on."""

import os
from pathlib import Path

import torch
import torch.distributed as dist
import torch.distributed.nn  # before the group: else gloo may abort at exit
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


def train(epochs, device, last=Path("checkpoints/last.pt")):
    """Train this many epochs, counting those of the checkpoint."""
    rank, world_size = dist.get_rank(), dist.get_world_size()
    x = torch.linspace(-1, 1, 64).unsqueeze(1)  # (64, 1)
    x = x[rank::world_size].to(device)  # the share of this process
    model = DDP(nn.Linear(1, 1).to(device))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    start_epoch = 0

    if last.exists():
        checkpoint = torch.load(last, map_location="cpu", weights_only=True)
        model.module.load_state_dict(checkpoint["model_state_dict"])
        optimizer.load_state_dict(checkpoint["optimizer_state_dict"])
        start_epoch = checkpoint["epoch"] + 1

    for epoch in range(start_epoch, epochs):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), 3 * x)
        loss.backward()
        optimizer.step()
        if rank == 0:  # one process writes
            last.parent.mkdir(parents=True, exist_ok=True)
            checkpoint = {"model_state_dict": model.module.state_dict()}
            checkpoint["optimizer_state_dict"] = optimizer.state_dict()
            checkpoint["epoch"] = epoch
            torch.save(checkpoint, last)
            print(f"saved epoch {epoch}")
        torch.distributed.barrier()  # all wait until the file is complete


if __name__ == "__main__":
    if "RANK" not in os.environ:  # not started by torchrun: one process
        os.environ.update(RANK="0", WORLD_SIZE="1", LOCAL_RANK="0")
        os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="0")
    gpu = None
    if torch.cuda.is_available():
        gpu = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
        torch.cuda.set_device(gpu)
    dist.init_process_group("nccl" if gpu else "gloo", device_id=gpu)
    train(2, gpu or torch.device("cpu"))  # interrupted here
    train(4, gpu or torch.device("cpu"))  # the next start goes on
    dist.destroy_process_group()
