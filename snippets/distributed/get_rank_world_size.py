"""Ask which process this is and of how many, before and after init."""

import os

import torch.distributed as dist

# At once: torchrun sets these; under plain python it is process 0 of 1.
rank = int(os.environ.get("RANK", 0))
world_size = int(os.environ.get("WORLD_SIZE", 1))
local_rank = int(os.environ.get("LOCAL_RANK", 0))  # its GPU

os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
os.environ.setdefault("MASTER_PORT", "0")  # plain python: any free port
dist.init_process_group("gloo", rank=rank, world_size=world_size)

# After init, whichever way the processes were started:
rank, world_size = dist.get_rank(), dist.get_world_size()
print(f"rank {rank} of {world_size}, local rank {local_rank}")
if rank == 0:
    print("only rank 0 prints this")
dist.barrier()  # nobody leaves while another still connects
dist.destroy_process_group()
