"""Command line: ``python -m cookbook check``, ``python -m cookbook failures``."""

import argparse
import sys
from pathlib import Path

from cookbook import checks, lint, status
from cookbook.catalogue import Catalogue


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m cookbook", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("check", help="structure, lint, format, workflows; fast")
    commands.add_parser("failures", help="what fails where, from the records")
    if parser.parse_args().command == "failures":
        return failures(Path.cwd())
    return check(Path.cwd())


def failures(root: Path) -> int:
    """Print, in Markdown, the recipes that the records say fail."""
    print("\n".join(status.failures(Catalogue(root), "en")))
    return 0


def check(root: Path) -> int:
    """Print every problem; 0 when there is none."""
    print("structure of pages and snippets", flush=True)
    found = checks.problems(Catalogue(root))
    for problem in found:
        print(f"  {problem}")
    errors = [problem for problem in found if problem.is_error]
    failed = [name for name, command in lint.COMMANDS if not lint.passes(name, command)]
    if errors or failed:
        print(f"\n{len(errors)} problems above; failed: {', '.join(failed) or 'none'}")
        return 1
    print("all in order")
    return 0


if __name__ == "__main__":
    sys.exit(main())
