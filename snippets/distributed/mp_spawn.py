"""Run a function in several processes of one script; gather the results."""

import tempfile
from collections.abc import Callable
from typing import Any

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def join(rank: int, W: int, folder: str, task: Callable) -> None:
    """Be process ``rank`` of W: what mp.spawn calls, index first."""
    # A file to meet at: no port that another job may have taken.
    address = f"file://{folder}/store"
    dist.init_process_group("gloo", address, rank=rank, world_size=W)
    results = [None] * W if rank == 0 else None
    dist.gather_object(task(rank, W), results)  # to rank 0
    if rank == 0:
        torch.save(results, f"{folder}/results.pt")
    dist.destroy_process_group()


def spawn(task: Callable[[int, int], Any], W: int) -> list:
    """Call ``task(rank, W)`` in W new processes of one process group.

    Args:
        task: defined at the top of a module; returns tensors, numbers,
            strings, or lists, tuples and dicts of these, in any size.

    Returns:
        What each process returned, W results in order of rank.

    Raises:
        mp.ProcessRaisedException: with the traceback of the first process
            that failed; the others are ended.

    Source: https://docs.pytorch.org/docs/stable/multiprocessing.html
    """
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(join, args=(W, folder, task), nprocs=W)
        return torch.load(f"{folder}/results.pt", weights_only=True)


def squares(rank: int, W: int) -> tuple[list[int], int]:
    """Return this process's share of 0, 1, 4, 9, 16, and the sum of all."""
    own = torch.arange(5)[rank::W] ** 2
    total = own.sum()
    dist.all_reduce(total)
    return own.tolist(), total.item()


if __name__ == "__main__":
    results = spawn(squares, W=2)
    assert results == [([0, 4, 16], 30), ([1, 9], 30)]
    for rank, (own, total) in enumerate(results):
        print(f"rank {rank}: {own} of a total of {total}")
