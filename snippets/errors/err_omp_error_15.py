"""List the copies of Intel's and LLVM's OpenMP in this environment."""

import sys
from pathlib import Path

names = {
    *("libiomp5md.dll", "libomp140.x86_64.dll"),  # Windows
    *("libiomp5.dylib", "libomp.dylib", "libiomp5.so", "libomp.so"),
}
copies = [p for p in Path(sys.prefix).rglob("lib*omp*") if p.name in names]
print("copies of OpenMP:", len(copies), *copies, sep="\n")
