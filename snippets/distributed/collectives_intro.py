"""Exchange tensors between processes: all_reduce, broadcast, all_gather."""

import os

import torch
import torch.distributed as dist

if "RANK" not in os.environ:  # not started by torchrun: one process
    os.environ.update(RANK="0", WORLD_SIZE="1")
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="0")
dist.init_process_group("gloo")  # for GPUs "nccl"

# What two processes get is in the comments.
x = torch.tensor([dist.get_rank() + 1.0])  # rank 0: [1.], rank 1: [2.]
total, first = x.clone(), x.clone()
dist.all_reduce(total)  # in place, the sum: [3.] in both
dist.broadcast(first, src=0)  # in place, from rank 0: [1.] in both
parts = [torch.empty_like(x) for _ in range(dist.get_world_size())]
dist.all_gather(parts, x)  # in the order of ranks: [1.], [2.] in both

if dist.get_rank() == 0:  # only the printing: all must call the others
    print("all_reduce", total.tolist(), "broadcast", first.tolist())
    print("all_gather", torch.cat(parts).tolist())
dist.destroy_process_group()
