"""Check that the processes of all machines find and reach each other."""

import os

import torch
import torch.distributed as dist
from torch.distributed import run

if "RANK" not in os.environ:  # plain python: start torchrun
    n = torch.cuda.device_count() or 2
    run.main(["--standalone", f"--nproc-per-node={n}", __file__])
else:
    local_rank = int(os.environ["LOCAL_RANK"])
    gpu = None
    if torch.cuda.is_available():
        gpu = torch.device("cuda", local_rank)
        torch.cuda.set_device(gpu)
    dist.init_process_group("nccl" if gpu else "gloo", device_id=gpu)

    places = [None] * dist.get_world_size()
    dist.all_gather_object(places, (int(os.environ["GROUP_RANK"]), local_rank))
    if dist.get_rank() == 0:
        for rank, (machine, local_rank) in enumerate(places):
            print(f"rank {rank}: machine {machine}, local rank {local_rank}")
    dist.destroy_process_group()
