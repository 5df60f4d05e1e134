"""Write down where each process waits; name the rank that is missing."""

import faulthandler
import os
import tempfile
import threading
import time
from datetime import timedelta
from pathlib import Path

import torch.distributed as dist
import torch.multiprocessing as mp


def watch(seconds):
    """Write to stack<rank>.txt, again and again, where this process is."""
    log = Path(f"stack{os.environ.get('RANK', 0)}.txt").absolute()

    def write():
        with log.open("w", encoding="utf-8") as file:
            while True:
                time.sleep(seconds)
                faulthandler.dump_traceback(file)  # last call first
                print(time.strftime("%X"), file=file, flush=True)

    threading.Thread(target=write, name="watchdog", daemon=True).start()


def load_data():
    """Be slow on one rank: the others wait for it."""
    time.sleep(4)


def work(rank, folder, seconds):
    """Be one of two processes, of which rank 1 never calls the barrier."""
    os.chdir(folder)
    os.environ["RANK"] = str(rank)  # as torchrun sets it
    watch(seconds)  # in every process, before init_process_group
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
    seconds = 1  # in real code 300
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(work, args=(folder, seconds), nprocs=2)
        stack = Path(folder, "stack1.txt").read_text().splitlines()
    place = next(line for line in stack if "in load_data" in line)
    print("rank 1 is at", place.rpartition(", ")[2])
