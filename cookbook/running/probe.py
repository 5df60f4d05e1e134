"""Print what a record says of an environment; run like a block, with torch loaded."""

import json

import numpy
import torch

try:
    import torchvision
except Exception:  # absent, or built for another torch
    vision = None
else:
    vision = torchvision.__version__
gpu = torch.cuda.is_available()
facts = {
    "torch": torch.__version__,
    "torchvision": vision,
    "numpy": numpy.__version__,
    "kind": "gpu" if gpu else "cpu",
    "device": torch.cuda.get_device_name() if gpu else "CPU",
    "cuda": torch.version.cuda if gpu else None,
}
print(json.dumps(facts))
