"""Let a process hang; see which rank is missing and where it waits."""

import faulthandler
import os
import tempfile
import time
from datetime import timedelta
from pathlib import Path

import torch.distributed as dist
import torch.multiprocessing as mp


def wait_for(cache):
    """Wait for a file that rank 0 writes only after the barrier."""
    while not cache.exists():
        time.sleep(0.4)


def work(rank, folder):
    """Be one of two processes that wait for each other."""
    os.chdir(folder)
    store, cache = Path(folder, "store").as_uri(), Path("cache")
    dist.init_process_group("gloo", store, rank=rank, world_size=2)

    group = dist.new_group(backend="gloo")  # beside NCCL, too
    log = Path(f"stack{rank}.txt")  # a file for each process
    faulthandler.dump_traceback_later(1, file=log.open("w"))  # or 300 s
    limit = timedelta(seconds=3)  # in real code minutes
    if rank == 1:
        wait_for(cache)
    else:
        try:
            dist.monitored_barrier(group, limit, wait_all_ranks=True)
        except RuntimeError as error:
            print("error:", error)
        cache.touch()  # the demonstration ends
    dist.destroy_process_group()  # else gloo may abort at exit


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(work, args=(folder,), nprocs=2)
        stack = Path(folder, "stack1.txt").read_text().splitlines()
    print("rank 1 is at", stack[2].rpartition(", ")[2])
