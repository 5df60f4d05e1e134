"""Train with DDP when the processes have different numbers of batches."""

import os

import torch
import torch.distributed as dist
import torch.distributed.nn  # before the group: else gloo may abort at exit
from torch import nn
from torch.distributed import run
from torch.utils.data import DataLoader, IterableDataset


def train_one_epoch(model, loader, loss_fn, optimizer, device):
    """Stop all processes when the first has no more batches."""
    model.train()
    try:
        with model.join(throw_on_early_termination=True):
            for x, y in loader:
                x, y = x.to(device), y.to(device)
                optimizer.zero_grad()
                loss_fn(model(x), y).backward()
                optimizer.step()
    except RuntimeError as error:
        if "exhausted" not in str(error):
            raise


class Shard(IterableDataset):
    """The part of this process: 96 samples for rank 0, 128 for rank 1."""

    def __iter__(self):
        for _ in range(96 + 32 * dist.get_rank()):
            x = torch.randn(3)
            yield x, x.sum(0, keepdim=True)


def main():
    """Count the steps of each process."""
    own = torch.device("cuda", int(os.environ["LOCAL_RANK"]))  # by torchrun
    gpu = own if torch.cuda.is_available() else None
    torch.cuda.set_device(gpu or -1)  # without a GPU: -1 does nothing
    dist.init_process_group("nccl" if gpu else "gloo", device_id=gpu)
    device, counts = gpu or torch.device("cpu"), [None] * dist.get_world_size()
    model = nn.parallel.DistributedDataParallel(nn.Linear(3, 1).to(device))
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    loader = DataLoader(Shard(), batch_size=32)
    train_one_epoch(model, loader, nn.MSELoss(), optimizer, device)
    steps = int(optimizer.state[model.module.weight]["step"])
    dist.all_gather_object(counts, (len(list(loader)), steps))
    if dist.get_rank() == 0:
        for rank, (batches, steps) in enumerate(counts):
            print(f"rank {rank}: {batches} batches, {steps} steps")
    dist.destroy_process_group()


if __name__ == "__main__" and "RANK" not in os.environ:
    n = torch.cuda.device_count() or 2  # plain python: start torchrun
    run.main(["--standalone", f"--nproc-per-node={n}", __file__])
elif __name__ == "__main__":
    main()
