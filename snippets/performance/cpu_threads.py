"""Set how many CPU threads one operation may use."""

import torch

torch.set_num_threads(1)  # this process, from here on

print("threads:", torch.get_num_threads())
