"""Load a pickle whose module has another name now, or that Python 2 wrote."""

import collections
import pickle
import sys
from pathlib import Path

# What Python 2 wrote when collections was called old_package: a Counter.
old = b"\x80\x02cold_package\nCounter\n}U\x03\xe9t\xe9K\x02s\x85R."
Path("data.pkl").write_bytes(old)
new_module = collections  # yours: the module that has the class now

sys.modules["old_package"] = new_module  # the name in the message
with Path("data.pkl").open("rb") as file:  # "rb": not as text
    data = pickle.load(file, encoding="latin1")  # strings of Python 2

with Path("plain.pkl").open("wb") as file:  # plain data needs no class
    pickle.dump(dict(data), file)
print(data)
