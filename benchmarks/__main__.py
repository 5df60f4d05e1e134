"""Measure what the design promises: ``python -m benchmarks [PART …]``."""

import argparse
import sys
from itertools import chain

from benchmarks import blocks, build, search, table

PARTS = {"blocks": blocks, "build": build, "search": search}


def main() -> int:
    """Show the measures of the parts asked for; 0 where every target is met."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("parts", nargs="*", help=", ".join(PARTS))
    parts = parser.parse_args().parts or list(PARTS)
    for part in parts:
        if part not in PARTS:
            parser.error(f"no part {part}; there are {', '.join(PARTS)}")
    measured = chain.from_iterable(PARTS[part].measures() for part in parts)
    return table.show(measured)


if __name__ == "__main__":
    sys.exit(main())
