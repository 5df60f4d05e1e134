"""Measure what the design promises: ``python -m benchmarks``; 0 where all is met."""

import sys
from itertools import chain

from benchmarks import blocks, build, search, table

if __name__ == "__main__":
    parts = blocks, build, search
    sys.exit(table.show(chain.from_iterable(part.measures() for part in parts)))
