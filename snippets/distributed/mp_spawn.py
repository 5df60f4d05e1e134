"""Run a function in several processes of one script and get its results."""

import tempfile
from pathlib import Path

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def work(rank, world_size, folder):
    """Be one of the processes: mp.spawn passes the rank, then args."""
    store = dist.FileStore(f"{folder}/store", world_size)  # new file: no port
    dist.init_process_group(
        "gloo", store=store, rank=rank, world_size=world_size
    )
    own = torch.arange(5)[rank::world_size] ** 2  # your work, on its share
    results = [None] * world_size if rank == 0 else None
    dist.gather_object(own.tolist(), results)  # to rank 0
    if rank == 0:
        torch.save(results, Path(folder, "results.pt"))
    dist.destroy_process_group()


if __name__ == "__main__":  # each new process imports this file
    world_size = 2  # processes; with GPUs torch.cuda.device_count()
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(work, args=(world_size, folder), nprocs=world_size)
        print(torch.load(Path(folder, "results.pt"), weights_only=True))
