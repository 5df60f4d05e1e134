"""Measure what the design promises; 0 where all is met.

``python -m benchmarks`` measures all parts, ``python -m benchmarks build`` one.
"""

import sys
from itertools import chain

from benchmarks import blocks, build, search, table

PARTS = {"blocks": blocks, "build": build, "search": search}

if __name__ == "__main__":
    chosen = sys.argv[1:] or PARTS
    sys.exit(table.show(chain.from_iterable(PARTS[name].measures() for name in chosen)))
