"""Load a pickle whose module was renamed, and one that Python 2 wrote."""

import collections
import pickle
import sys

import torch

# A Counter, saved when its module was called old_package.
renamed = b"\x80\x02cold_package\nCounter\n}X\x01\x00\x00\x00aK\x02s\x85R."
try:
    pickle.loads(renamed)
except ModuleNotFoundError as error:
    print("error:", error)
sys.modules["old_package"] = collections  # old name: new module
counts = pickle.loads(renamed)
torch.save(dict(counts), "counts.pt")  # plain data needs no class
print(torch.load("counts.pt", weights_only=True))

python2 = b"\x80\x02}U\x04dataU\x02\x8b\xe9s."  # {"data": two bytes}
try:
    pickle.loads(python2)
except UnicodeDecodeError as error:
    print("error:", error)
print(pickle.loads(python2, encoding="latin1"))
