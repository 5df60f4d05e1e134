"""Let the processes of mp.spawn meet at a port that is free."""

import os
import socket

import torch.distributed as dist
import torch.multiprocessing as mp


def free_port():
    """Return a port that no program uses now."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def work(rank, world_size):
    """Be one of the processes; the port is in the environment."""
    dist.init_process_group("gloo", rank=rank, world_size=world_size)
    dist.barrier()
    if rank == 0:
        print(dist.get_world_size(), "processes have met")
    dist.destroy_process_group()


if __name__ == "__main__":
    os.environ["MASTER_ADDR"] = "127.0.0.1"
    os.environ["MASTER_PORT"] = str(free_port())  # before the processes start
    mp.spawn(work, args=(2,), nprocs=2)
