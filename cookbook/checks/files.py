"""The rules of every file: its place, UTF-8, no path of one machine."""

import os
import re
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path

from cookbook.book.pages import PageError, read_text
from cookbook.rules import Problem

# MkDocs publishes what stands in docs/; a page elsewhere would be checked by nobody.
DOCS = (
    "docs/*.yml docs/architecture.md docs/wordings.json docs/*.png "
    "docs/questions/*.jsonl "
    "docs/root/*.md docs/??/*.md "
    "docs/??/*/*.md docs/??/*.svg docs/??/*.png docs/??/*/*.svg docs/??/*/*.png "
    "docs/overrides/*.html docs/overrides/partials/*.html "
    "docs/overrides/partials/languages/*.html docs/overrides/assets/*"
)
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
    return sorted(name for name in names if (root / name).is_file())


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
    if (size := (root / path).stat().st_size) > LARGEST:
        facts = {"size": size // 1000, "limit": LARGEST // 1000}
        return Problem(path, 1, "file-too-large", facts)
    # An absolute pattern fits the whole path, not its end alone.
    fits = (("/" / path).match(f"/{pattern}") for pattern in DOCS.split())
    if path.is_relative_to("docs") and not any(fits):
        return Problem(path, 1, "file-out-of-place", {"allowed": DOCS})
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
