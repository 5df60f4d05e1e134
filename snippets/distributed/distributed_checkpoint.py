"""Save a sharded model in parallel; load it in any number of processes."""

import os
from pathlib import Path

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from torch import nn
from torch.distributed.checkpoint import state_dict as dcp_state
from torch.distributed.fsdp import fully_shard


def save_checkpoint(folder, model, optimizer, epoch):
    """Call it in every process: each writes its part."""
    weights, optim = dcp_state.get_state_dict(model, optimizer)
    checkpoint = {"model_state_dict": weights, "optim_state_dict": optim}
    checkpoint["epoch"] = epoch
    dcp.save(checkpoint, checkpoint_id=folder)  # a new folder


def load_checkpoint(folder, model, optimizer):
    """Call it in every process; return the epoch to start with."""
    optimizer.zero_grad()  # beside gradients its state would not be loaded
    weights, optim = dcp_state.get_state_dict(model, optimizer)
    checkpoint = {"model_state_dict": weights, "optim_state_dict": optim}
    checkpoint["epoch"] = 0
    dcp.load(checkpoint, checkpoint_id=folder)  # fills the dict
    epoch = checkpoint.pop("epoch")
    dcp_state.set_state_dict(model, optimizer, **checkpoint)
    return epoch + 1


def train(epochs, device, folder=Path("checkpoints")):
    """Train this many epochs, counting those of the last checkpoint."""
    torch.manual_seed(0)  # the same weights in all processes
    model = fully_shard(nn.Linear(8, 8))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    saved = sorted(folder.glob("*/.metadata"))  # which is written last
    start = load_checkpoint(saved[-1].parent, model, optimizer) if saved else 0
    for epoch in range(start, epochs):
        optimizer.zero_grad()
        model(torch.eye(8, device=device)).square().mean().backward()
        optimizer.step()
        save_checkpoint(folder / f"epoch-{epoch:03}", model, optimizer, epoch)
    return start, model


if __name__ == "__main__":
    if "RANK" not in os.environ:  # not started by torchrun: one process
        os.environ.update(RANK="0", WORLD_SIZE="1", LOCAL_RANK="0")
        os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="0")
    own = torch.device("cuda", int(os.environ["LOCAL_RANK"]))  # by torchrun
    gpu = own if torch.cuda.is_available() else None
    torch.cuda.set_device(gpu or -1)  # without a GPU: -1 does nothing
    dist.init_process_group("nccl" if gpu else "gloo", device_id=gpu)
    train(2, gpu or "cpu")  # interrupted here
    start, _ = train(3, gpu or "cpu")
    print(f"rank {dist.get_rank()} went on at epoch {start}")
    dist.destroy_process_group()
