"""Free the GPU memory of objects that are no longer needed."""

import gc
import weakref

import torch
from torch import nn

device = "cuda" if torch.cuda.is_available() else "cpu"
model = nn.Linear(1000, 1000, device=device)
optimizer = torch.optim.AdamW(model.parameters())
loss = model(torch.ones(1, 1000, device=device)).sum()
weight = weakref.ref(model.weight)  # only to see whether it is freed

model = optimizer = loss = None  # every name that refers to it; or del
gc.collect()  # objects that refer to each other
torch.cuda.empty_cache()  # hands it back: nvidia-smi shows less
print(f"{torch.cuda.memory_allocated() / 2**30:.1f} GiB still in use")

assert weight() is None
