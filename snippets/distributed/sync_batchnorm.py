"""Let BatchNorm use the samples of all GPUs for its mean and variance."""

import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU())
model = nn.SyncBatchNorm.convert_sync_batchnorm(model)  # before DDP
print([type(layer).__name__ for layer in model])

if torch.cuda.is_available():  # it does not train on a CPU
    if "RANK" not in os.environ:  # not started by torchrun: one process
        os.environ.update(RANK="0", WORLD_SIZE="1", LOCAL_RANK="0")
        os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="0")
    gpu = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(gpu)
    dist.init_process_group("nccl", device_id=gpu)
    model = DDP(model.to(gpu), device_ids=[gpu])
    model(torch.randn(2, 3, 8, 8, device=gpu)).sum().backward()
    dist.destroy_process_group()
