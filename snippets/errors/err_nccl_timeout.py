"""Let the processes wait for rank 0 longer than the group for training may."""

import tempfile
import time
from datetime import timedelta
from pathlib import Path

import torch.distributed as dist
import torch.multiprocessing as mp


def on_rank_0(task):
    """Run task on rank 0; the others wait for it, an hour at most."""
    hour = timedelta(hours=1)
    patient = dist.new_group(backend="gloo", timeout=hour)  # in every process
    if dist.get_rank() == 0:
        task()
    dist.barrier(patient)
    dist.destroy_process_group(patient)


def prepare_data():
    """Take longer than the limit."""
    time.sleep(3)


def work(rank, store):
    """Be one of two processes; the group for training waits two seconds."""
    dist.init_process_group("gloo", store, rank=rank, world_size=2)
    training = dist.new_group(timeout=timedelta(seconds=2))
    if rank == 0:
        prepare_data()
    else:
        try:
            dist.barrier(training)
        except RuntimeError as error:
            print("error:", str(error).partition("] ")[2])
    on_rank_0(prepare_data)  # yours: a function without arguments
    if rank == 1:
        print("rank 1 goes on")
    dist.destroy_process_group()  # else gloo may abort at exit


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(work, args=(Path(folder, "store").as_uri(),), nprocs=2)
