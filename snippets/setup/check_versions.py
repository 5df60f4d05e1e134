"""Print the versions of PyTorch, CUDA and cuDNN, and the names of the GPUs."""

import torch

print("torch", torch.__version__)
print("CUDA", torch.version.cuda)  # None: a build without CUDA
print("cuDNN", torch.backends.cudnn.version())  # 92600 is 9.26.0
n = torch.cuda.device_count() if torch.cuda.is_available() else 0
print("GPUs", [torch.cuda.get_device_name(i) for i in range(n)])
# All of it, for a bug report: python -m torch.utils.collect_env
