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


def style(paths: list[Path]) -> list[tuple[str, list]]:
    """The commands that check the style of a recipe's snippets and tests."""
    return _ruff(paths, CHECK, ["format", "--diff", "--quiet"])


def fix_style(paths: list[Path]) -> None:
    """Let ruff correct what it can in a recipe's snippets and tests."""
    for _, command in _ruff(paths, [*CHECK, "--fix"], ["format", "--quiet"]):
        subprocess.run(command, capture_output=True, check=False)


def _ruff(
    paths: list[Path], checking: list[str], formatting: list[str]
) -> list[tuple[str, list]]:
    """Ruff's commands for files; given none, it would take the whole folder."""
    if not paths:
        return []
    ruff = BIN / "ruff"
    commands = [("ruff check", checking), ("ruff format", formatting)]
    return [(name, [ruff, *options, *paths]) for name, options in commands]


def passes(name: str, command: list) -> bool:
    """Run one tool; show what it prints only where it fails."""
    print(name, flush=True)
    result = subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, check=False
    )
    if result.returncode:
        print(result.stdout + result.stderr)
    return result.returncode == 0
