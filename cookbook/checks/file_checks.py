"""The rules of every file: its place, UTF-8, no credentials, no path of one machine."""

import os
import re
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

import pathspec

from cookbook.pages import PageError, read_text
from cookbook.rules import Problem

IGNORED = Path(".gitignore")
# What these folders hold. Other files there would be published or run unseen.
HOLDS = {
    "docs": (
        "docs/*.yml docs/wordings.json docs/*.png docs/root/*.md docs/??/*.md "
        "docs/??/*/*.md docs/??/*.svg docs/??/*.png docs/??/*/*.svg docs/??/*/*.png "
        "docs/overrides/*.html docs/overrides/partials/*.html "
        "docs/overrides/partials/languages/*.html docs/overrides/assets/*"
    ),
    "snippets": "snippets/ruff.toml snippets/*/*.py snippets/*/*.out snippets/*/*.svg",
    "tests/snippets": "tests/snippets/conftest.py tests/snippets/*/test_*.py",
    "verified": "verified/*.json",
}
IMAGES = (".png", ".jpg", ".webp")  # all else is text
LARGEST = 200_000  # bytes
QUERIES = Path("tests/search")  # as people type them, with their paths
# A recipe is finished; the engine may speak of the word.
FINISHED = ("docs", "snippets", "tests/snippets")
TODO = re.compile(r"\bTODO\b.*")
# Where people keep their files; a recipe writes into the current folder.
MACHINE_PATH = re.compile(r"(?<![\w.])/(?:home|Users|root)/\w+|\b[A-Z]:\\+\w{2,}\\")
EXAMPLE = "pragma: allowlist secret"  # as most scanners write it
# Only forms that nothing else has; the host's push protection knows many more.
CREDENTIALS = {
    "AWS": r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b",
    "GitHub": r"\b(?:gh[pousr]_[A-Za-z0-9]{36}|github_pat_\w{60})",
    "Google": r"\bAIza[\w-]{35}",
    "Hugging Face": r"\bhf_[A-Za-z0-9]{30}",
    "OpenAI": r"\bsk-(?:proj|svcacct|admin)-[\w-]{40}",
    "PyPI": r"\bpypi-AgEIcHlwaS5vcmc[\w-]{50}",
    "Slack": r"\bxox[abprs]-[\w-]{20}",
    "Weights & Biases": r"(?i)\bWANDB_API_KEY\W{1,5}[0-9a-f]{40}\b",
    "private key": r"-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----",
    "password in an address": r"\b[a-z]+://[^\s/:@{$<]+:[^\s/:@{$<]+@[\w.]",
}


def files(root: Path) -> list[Path]:
    """The files that git tracks or would add, relative to the root.

    Without git or a repository, as in an unpacked archive: those that .gitignore at
    the root does not name.
    """
    command = ["git", "ls-files", "-coz", "--exclude-standard"]
    with suppress(FileNotFoundError, subprocess.CalledProcessError):
        if (root / ".git").exists():
            run = subprocess.run(command, cwd=root, capture_output=True, check=True)
            names = {Path(name) for name in os.fsdecode(run.stdout).split("\0")}
            # Git also lists removed files, and the folders of other repositories.
            return sorted(
                n for n in names if (root / n).is_symlink() or (root / n).is_file()
            )
    patterns = [".git/", *(root / IGNORED).read_text("utf-8").splitlines()]
    ignored = pathspec.GitIgnoreSpec.from_lines(patterns)
    found = []
    for folder, folders, names in os.walk(root):
        here = Path(folder).relative_to(root)
        folders[:] = [f for f in folders if not ignored.match_file(f"{here / f}/")]
        found += [here / n for n in names if not ignored.match_file(here / n)]
    return sorted(found)


def problems(root: Path, paths: Iterable[Path]) -> list[Problem]:
    """What is wrong with the files given: where they are, and what they hold."""
    found = []
    for path in paths:
        if misplaced := _tree_problem(root, path):
            found.append(misplaced)
        elif path.suffix not in IMAGES:
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
    yield from _line_problems(path, text)
    yield from _credential_problems(path, text)


def _line_problems(path: Path, text: str) -> Iterator[Problem]:
    finished = any(path.is_relative_to(folder) for folder in FINISHED)
    for number, line in enumerate(text.split("\n"), start=1):
        machine = MACHINE_PATH.search(line)
        if machine and not path.is_relative_to(QUERIES):
            yield Problem(path, number, "machine-path", {"found": machine[0]})
        if finished and (left := TODO.search(line)):
            yield Problem(path, number, "left-undone", {"text": left[0].strip()})


def _credential_problems(path: Path, text: str) -> Iterator[Problem]:
    """What has the form of a credential, and is not marked as an example."""
    for kind, form in CREDENTIALS.items():
        for match in re.finditer(form, text):
            number = text.count("\n", 0, match.start()) + 1
            if EXAMPLE not in text.split("\n")[number - 1]:
                yield Problem(path, number, "credential", {"kind": kind})
