"""Shard AdamW's state over the processes of DDP, and save it whole."""

import os

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.optim import ZeroRedundancyOptimizer as ZeRO
from torch.nn.parallel import DistributedDataParallel as DDP


def train(model, loader, loss_fn, optimizer):
    """Stop all processes when the first has no more batches."""
    try:
        with model.join(throw_on_early_termination=True):
            for x, y in loader:
                loss_fn(model(x), y).backward()
                optimizer.step()
                optimizer.zero_grad()
    except RuntimeError as error:
        if "exhausted" not in str(error):
            raise


def main():
    """Train with one batch more in each further process."""
    if "RANK" not in os.environ:  # not started by torchrun: one process
        os.environ.update(RANK="0", WORLD_SIZE="1", LOCAL_RANK="0")
        os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="0")
    gpu = None
    if torch.cuda.is_available():
        gpu = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
        torch.cuda.set_device(gpu)
    dist.init_process_group("nccl" if gpu else "gloo", device_id=gpu)

    rank = dist.get_rank()
    torch.manual_seed(rank)  # other data in each process
    x, y = torch.randn(2, 3 + rank, 16, 8, device=gpu)
    loader = list(zip(x, y, strict=True))
    net = nn.Sequential(nn.Linear(8, 64), nn.Tanh(), nn.Linear(64, 8))
    model = DDP(net.to(gpu))
    optimizer = ZeRO(model.parameters(), torch.optim.AdamW, lr=0.01)
    train(model, loader, nn.MSELoss(), optimizer)

    print(f"rank {rank}: state of {len(optimizer.optim.state)} tensors")
    optimizer.consolidate_state_dict(to=0)  # all processes call it
    if dist.get_rank() == 0:
        state = optimizer.state_dict()  # same form as AdamW's
        torch.save(state, "optimizer.pt")
        assert len(state["state"]) == 4  # two weights, two biases
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
