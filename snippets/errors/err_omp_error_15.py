"""List the copies of Intel's and LLVM's OpenMP in this environment."""

import sys
from pathlib import Path

names = {"libiomp5md.dll", "libomp140.x86_64.dll"}  # Windows
names |= {"libiomp5.dylib", "libomp.dylib", "libiomp5.so", "libomp.so"}
prefix, elsewhere = Path(sys.prefix), {"pkgs", "envs"}  # in conda's base
found = [p for p in prefix.rglob("lib*omp*") if p.name in names]
found = [p for p in found if not elsewhere & {*p.relative_to(prefix).parts}]
copies = {p.resolve() for p in found}  # an alias is no copy
print("copies of OpenMP:", len(copies), *copies, sep="\n")
