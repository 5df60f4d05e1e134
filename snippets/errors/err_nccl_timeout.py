"""Wait for a slow rank 0 in a group that has a longer time limit."""

import tempfile
import time
from datetime import timedelta
from pathlib import Path

import torch.distributed as dist
import torch.multiprocessing as mp


def prepare_data():
    """Stand for what takes longer than the limit."""
    time.sleep(3)


def work(rank, store):
    """Be one of two processes; rank 0 prepares the data for both."""
    dist.init_process_group("gloo", store, rank=rank, world_size=2)
    training = dist.new_group(timeout=timedelta(seconds=2))
    hour = timedelta(hours=1)
    patient = dist.new_group(backend="gloo", timeout=hour)

    if rank == 0:
        prepare_data()  # or evaluate, or save
    else:
        try:
            dist.barrier(training)
        except RuntimeError as error:
            print("error:", str(error).partition("] ")[2])
    dist.barrier(patient)  # the others wait for rank 0
    if rank == 1:
        print(f"rank {rank} goes on")
    dist.destroy_process_group()  # else gloo may abort at exit


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(work, args=(Path(folder, "store").as_uri(),), nprocs=2)
