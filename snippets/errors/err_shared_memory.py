"""See how much shared memory is free, and share tensors without open files."""

import resource
import shutil

import torch

total, used, free = shutil.disk_usage("/dev/shm")  # in bytes
# In a container with less than 1 GB: docker run --shm-size=8g ...
print("room for a batch of 10 MB:", free > 10e6)

limits = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (64, limits[1]))  # ulimit -n 64
try:
    shared = [torch.zeros(1).share_memory_() for _ in range(100)]
except RuntimeError as error:
    print("error:", str(error).rpartition(": ")[2])

# Too many open files: share by name instead.
torch.multiprocessing.set_sharing_strategy("file_system")
shared = [torch.zeros(1).share_memory_() for _ in range(100)]
print("shared:", len(shared))
resource.setrlimit(resource.RLIMIT_NOFILE, limits)
