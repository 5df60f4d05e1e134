"""What a snippet prints or draws, compared with what is recorded beside it."""

import difflib
import doctest
from collections.abc import Callable
from pathlib import Path

MOST_LINES = 30  # of a difference
FLAGS = doctest.ELLIPSIS | doctest.DONT_ACCEPT_BLANKLINE
FLAGS |= doctest.DONT_ACCEPT_TRUE_FOR_1


def record(file: Path, text: str, matches: Callable[[str, str], bool]) -> None:
    """Write a snippet's output or picture beside it; none where there is none."""
    if file.exists() and matches(file.read_text("utf-8"), text):
        return  # its "..." were put there on purpose
    if text:
        file.write_text(text, encoding="utf-8")
    else:
        file.unlink(missing_ok=True)


def matches(recorded: str, printed: str) -> bool:
    """Whether the output is the recorded one, in which ... stands for anything."""
    return doctest.OutputChecker().check_output(recorded, printed, FLAGS)


def difference(recorded: str, printed: str) -> str:
    """What a run printed against what is recorded, as a unified diff."""
    sides = recorded.splitlines(), printed.splitlines()
    lines = [*difflib.unified_diff(*sides, "recorded", "printed", n=1, lineterm="")]
    if len(lines) > MOST_LINES:
        lines[MOST_LINES:] = [f"… {len(lines) - MOST_LINES} more lines"]
    return "\n".join(lines)
