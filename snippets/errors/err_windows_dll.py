"""Look for missing and doubled libraries, without importing torch."""

import ctypes
import platform
import sys
from pathlib import Path

print(platform.system(), "Python of", platform.architecture()[0])

# Visual C++ Redistributable: which of its libraries does not load?
for name in ("vcruntime140.dll", "vcruntime140_1.dll", "msvcp140.dll"):
    try:
        ctypes.CDLL(name)
    except OSError as error:
        print("missing:", error)

# OMP: Error #15: more than one copy in this environment?
copies = list(Path(sys.prefix).rglob("libiomp5md.dll"))
print("copies of OpenMP:", len(copies), *copies, sep="\n")
