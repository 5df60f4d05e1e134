"""The checks that other tools make, and how they are called."""

import subprocess
import sys
from pathlib import Path

BIN = Path(sys.executable).parent
CHECK = ["check", "--quiet", "--output-format", "concise"]
COMMANDS = [
    ("ruff check", [BIN / "ruff", *CHECK, "."]),
    ("ruff format", [BIN / "ruff", "format", "--check", "--quiet", "."]),
    ("zizmor", [BIN / "zizmor", "--offline", "--pedantic", "--quiet", ".github"]),
]


def style(paths: list[Path], fix: bool = False) -> list[tuple[str, list]]:
    """The commands that check the style of files, or mend what they can."""
    if not paths:
        return []  # ruff would take the whole folder
    checking, formatting = (["--fix"], []) if fix else ([], ["--diff"])
    return [
        ("ruff check", [BIN / "ruff", *CHECK, *checking, *paths]),
        ("ruff format", [BIN / "ruff", "format", "--quiet", *formatting, *paths]),
    ]


def passes(name: str, command: list) -> bool:
    """Run one tool; show what it prints only where it fails."""
    print(name, flush=True)
    result = subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, check=False
    )
    if result.returncode:
        print(result.stdout + result.stderr)
    return result.returncode == 0
