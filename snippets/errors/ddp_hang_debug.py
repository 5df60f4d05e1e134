"""Write down where each process waits; name the rank that is missing."""

import os
import sys
import tempfile
import threading
import time
import traceback
from datetime import timedelta
from pathlib import Path

import torch.distributed as dist
import torch.multiprocessing as mp


def watch(rank, seconds=300):
    """Write to stack<rank>.txt, every few minutes, where this process is."""
    main, log = threading.get_ident(), Path(f"stack{rank}.txt").absolute()

    def write():
        with log.open("w", encoding="utf-8") as file:
            while True:
                time.sleep(seconds)
                traceback.print_stack(sys._current_frames()[main], file=file)
                print(time.strftime("%X"), file=file, flush=True)

    threading.Thread(target=write, name="watchdog", daemon=True).start()


def load_data():
    """Be slow on one rank: the others wait for it."""
    time.sleep(4)


def work(rank, folder):
    """Be one of two processes, of which rank 1 never calls the barrier."""
    os.chdir(folder)
    watch(rank, seconds=1)  # before all else; in real code without `seconds`
    store = Path("store").absolute().as_uri()
    dist.init_process_group("gloo", store, rank=rank, world_size=2)
    group = dist.new_group(backend="gloo")  # every process makes it
    if rank == 1:
        load_data()
    else:
        limit = timedelta(seconds=2)  # in real code minutes
        try:
            dist.monitored_barrier(group, limit, wait_all_ranks=True)
        except RuntimeError as error:
            print("error:", error)
    dist.destroy_process_group()  # else gloo may abort at exit


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(work, args=(folder,), nprocs=2)
        stack = Path(folder, "stack1.txt").read_text().splitlines()
    place = next(line for line in stack if "in load_data" in line)
    print("rank 1 is at", *place.rsplit(", ", 2)[1:])
