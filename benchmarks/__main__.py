"""Measure what the design promises: ``python -m benchmarks``; 0 where all is met."""

import sys
from itertools import chain

from benchmarks import blocks, build, table

if __name__ == "__main__":
    sys.exit(table.show(chain(blocks.measures(), build.measures())))
