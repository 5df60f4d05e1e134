"""Ask whether this build of torch has code for a GPU, and use the GPU."""

import torch

here = torch.cuda.is_available()  # else a GTX 1080 stands in
major, minor = torch.cuda.get_device_capability() if here else (6, 1)
built = torch.cuda.get_arch_list()  # sm_86: code for 8.6 to 8.9
usable = {f"sm_{major}{n}" for n in range(minor + 1)}
print("torch:", torch.__version__, "built for CUDA", torch.version.cuda)
print("code for it:", bool(usable & set(built)))
try:
    torch.ones(1, device="cuda").item()
    result = "works"
except (AssertionError, RuntimeError) as error:
    result = f"error: {str(error).split('. ')[0]}"
print(result)
assert here or result != "works"  # nothing works without a GPU
