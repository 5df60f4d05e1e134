"""Ask which process this is and of how many, before and after init."""

import os

import torch.distributed as dist
from torch.distributed import run

# At once: torchrun sets these; under plain python it is process 0 of 1.
rank = int(os.environ.get("RANK", 0))
world_size = int(os.environ.get("WORLD_SIZE", 1))
local_rank = int(os.environ.get("LOCAL_RANK", 0))  # its GPU

if "RANK" not in os.environ:  # plain python: start torchrun
    run.main(["--standalone", "--nproc-per-node=2", __file__])
else:
    dist.init_process_group("gloo")
    # After init, whichever way the processes were started:
    rank, world_size = dist.get_rank(), dist.get_world_size()
    told = [None] * world_size
    own = f"rank {rank} of {world_size}, local rank {local_rank}"
    dist.all_gather_object(told, own)
    if rank == 0:  # one process prints
        print(*told, sep="\n")
    dist.destroy_process_group()
