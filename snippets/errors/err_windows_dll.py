"""Look for missing libraries, without importing torch."""

import ctypes
import platform

print(platform.system(), "Python of", platform.architecture()[0])

# Visual C++ Redistributable: which of its libraries does not load?
for name in ("vcruntime140.dll", "vcruntime140_1.dll", "msvcp140.dll"):
    try:
        ctypes.CDLL(name)
    except OSError as error:
        print("missing:", error)
