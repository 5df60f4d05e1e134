"""Run the blocks of the pages, each alone, and keep a record of what came of it."""

from pathlib import Path

GUARD = Path(__file__).parent / "guard" / "sitecustomize.py"
PICTURE = "picture.svg"  # among a run's logs: what a script drew under its own name
