"""The rules of every file: its place, UTF-8, no path of one machine."""

import os
import re
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path

from cookbook.book.pages import PageError, read_text
from cookbook.rules import Problem

# What these folders hold. Other files there would be published or run unseen.
HOLDS = {
    "docs": (
        "docs/*.yml docs/architecture.md docs/wordings.json docs/*.png "
        "docs/questions/*.jsonl "
        "docs/root/*.md docs/??/*.md "
        "docs/??/*/*.md docs/??/*.svg docs/??/*.png docs/??/*/*.svg docs/??/*/*.png "
        "docs/overrides/*.html docs/overrides/partials/*.html "
        "docs/overrides/partials/languages/*.html docs/overrides/assets/*"
    ),
    "snippets": "snippets/ruff.toml snippets/*/*.py snippets/*/*.out snippets/*/*.svg",
    "tests/snippets": "tests/snippets/conftest.py tests/snippets/*/test_*.py",
    "verified": "verified/*.json verified/gains/*.json",
}
BINARY = (".png", ".jpg", ".webp", ".npz", ".pdparams")  # all else is text
LARGEST = 200_000  # bytes
# As people type them, with their paths.
QUESTIONS = (Path("docs/questions"), Path("tests/search"))
# A recipe is finished; the engine may speak of the word.
FINISHED = ("docs", "snippets", "tests/snippets")
TODO = re.compile(r"\b(TODO|FIXME|XXX)\b.*")
# Where people keep their files; a recipe writes into the current folder.
MACHINE_PATH = re.compile(
    r"(?<![\w.])/(?:home|Users|root|mnt)/\w+|\b[A-Z]:(?:\\+\w{2,}\\|/\w{2,})"
)


def files(root: Path) -> list[Path]:
    """The files that git tracks or would add, relative to the root."""
    command = ["git", "ls-files", "-coz", "--exclude-standard"]
    run = subprocess.run(command, cwd=root, capture_output=True, check=True)
    names = {Path(name) for name in os.fsdecode(run.stdout).split("\0")}
    # Git also lists removed files, and the folders of other repositories.
    return sorted(n for n in names if (root / n).is_symlink() or (root / n).is_file())


def problems(root: Path, paths: Iterable[Path]) -> list[Problem]:
    """What is wrong with the files given: where they are, and what they hold."""
    found = []
    for path in paths:
        if misplaced := _tree_problem(root, path):
            found.append(misplaced)
        elif path.suffix not in BINARY:
            found += _text_problems(root, path)
    return sorted(found, key=lambda problem: (problem.path, problem.line))


def _tree_problem(root: Path, path: Path) -> Problem | None:
    """Why a file does not belong into the repository, or not where it is."""
    if (root / path).is_symlink():
        return Problem(path, 1, "file-is-link")
    if (size := (root / path).stat().st_size) > LARGEST:
        facts = {"size": size // 1000, "limit": LARGEST // 1000}
        return Problem(path, 1, "file-too-large", facts)
    for folder, allowed in HOLDS.items():
        # An absolute pattern fits the whole path, not its end alone.
        fits = (("/" / path).match(f"/{pattern}") for pattern in allowed.split())
        if path.is_relative_to(folder) and not any(fits):
            facts = {"folder": folder, "allowed": allowed}
            return Problem(path, 1, "file-out-of-place", facts)
    return None


def _text_problems(root: Path, path: Path) -> Iterator[Problem]:
    try:
        text = read_text(root, path)
    except PageError as error:
        yield error.problem
        return
    finished = any(path.is_relative_to(folder) for folder in FINISHED)
    for number, line in enumerate(text.split("\n"), start=1):
        machine = MACHINE_PATH.search(line)
        if machine and path.parent not in QUESTIONS:
            yield Problem(path, number, "machine-path", {"found": machine[0]})
        if finished and (left := TODO.search(line)):
            yield Problem(path, number, "left-undone", {"text": left[0].strip()})
