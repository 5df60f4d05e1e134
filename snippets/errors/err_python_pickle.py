"""Load a pickle whose module has another name now."""

import collections
import pickle
import sys
from pathlib import Path

# As if Counter had been in old_package when the file was written.
old = pickle.dumps(collections.Counter("aab"))
old = old.replace(b"collections", b"old_package")
Path("data.pkl").write_bytes(old)
new_module = collections  # yours: the module that has the class now

sys.modules["old_package"] = new_module  # the name in the message
with Path("data.pkl").open("rb") as file:
    data = pickle.load(file)

with Path("plain.pkl").open("wb") as file:  # plain data needs no class
    pickle.dump(dict(data), file)
print(data)
