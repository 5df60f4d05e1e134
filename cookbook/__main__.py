"""Command line: ``python -m cookbook check``."""

import argparse
import sys
from pathlib import Path

from cookbook import checks, lint
from cookbook.catalogue import Catalogue


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m cookbook", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("check", help="structure, lint, format, workflows; fast")
    parser.parse_args()
    return check(Path.cwd())


def check(root: Path) -> int:
    """Print every problem; 0 when there is none."""
    print("structure of pages and snippets", flush=True)
    found = checks.problems(Catalogue(root))
    for problem in found:
        print(f"  {problem}")
    failed = [name for name, command in lint.COMMANDS if not lint.passes(name, command)]
    if found or failed:
        print(f"\n{len(found)} problems above; failed: {', '.join(failed) or 'none'}")
        return 1
    print("all in order")
    return 0


if __name__ == "__main__":
    sys.exit(main())
