"""Find out which process this is, of how many, before and after init."""

import os

import torch.distributed as dist


def get_rank() -> int:
    """Return this process's number among all W: 0 where it is alone.

    The process group knows. Before there is one, torchrun's environment
    does; and under plain python nothing is set.

    Source: https://docs.pytorch.org/docs/stable/elastic/run.html
    """
    if dist.is_initialized():
        return dist.get_rank()
    return int(os.environ.get("RANK", 0))


def get_world_size() -> int:
    """Return W, how many processes there are on all machines together."""
    if dist.is_initialized():
        return dist.get_world_size()
    return int(os.environ.get("WORLD_SIZE", 1))


def get_local_rank() -> int:
    """Return this process's number on its own machine: its GPU."""
    return int(os.environ.get("LOCAL_RANK", 0))


def is_main() -> bool:
    """Return True in one process of all: the one to print and to save."""
    return get_rank() == 0


if __name__ == "__main__":
    rank, W = get_rank(), get_world_size()
    if W > 1:
        dist.init_process_group("gloo")
        assert (rank, W) == (dist.get_rank(), dist.get_world_size())
    print(f"rank {rank} of {W}, local rank {get_local_rank()}")
    if is_main():
        print("only rank 0 prints this")
    if dist.is_initialized():
        dist.destroy_process_group()
