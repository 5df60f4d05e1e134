"""Show only GPUs 0 and 1 to this process, from inside it."""

import os

os.environ["CUDA_VISIBLE_DEVICES"] = "0,1"  # above import torch

import torch

assert torch.cuda.device_count() <= 2
print("visible GPUs:", torch.cuda.device_count())
