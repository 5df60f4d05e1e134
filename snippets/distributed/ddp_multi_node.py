"""Check that the processes of all machines find and reach each other."""

import os

import torch
import torch.distributed as dist

if "RANK" not in os.environ:  # not started by torchrun: one process
    os.environ.update(RANK="0", WORLD_SIZE="1", LOCAL_RANK="0")
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="0")
local_rank = int(os.environ["LOCAL_RANK"])
gpu = None
if torch.cuda.is_available():
    gpu = torch.device("cuda", local_rank)
    torch.cuda.set_device(gpu)
dist.init_process_group("nccl" if gpu else "gloo", device_id=gpu)

machine = int(os.environ.get("GROUP_RANK", 0))
places = [None] * dist.get_world_size()
dist.all_gather_object(places, (machine, local_rank))  # waits for all
if dist.get_rank() == 0:
    for rank, (machine, local_rank) in enumerate(places):
        print(f"rank {rank}: machine {machine}, local rank {local_rank}")
dist.destroy_process_group()
