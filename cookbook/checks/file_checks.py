"""The rules of every file: UTF-8, no credentials, no path of one machine, no TODO."""

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import pathspec

from cookbook.pages import PageError, read_text
from cookbook.rules import Problem

IGNORED = Path(".gitignore")
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

    Found without git, so in an unpacked archive too.
    """
    patterns = [".git/", *(root / IGNORED).read_text("utf-8").splitlines()]
    ignored = pathspec.GitIgnoreSpec.from_lines(patterns)
    found = []
    for folder, folders, names in os.walk(root):
        here = Path(folder).relative_to(root)
        folders[:] = [f for f in folders if not ignored.match_file(f"{here / f}/")]
        found += [here / n for n in names if not ignored.match_file(here / n)]
    return sorted(found)


def problems(root: Path, paths: Iterable[Path]) -> list[Problem]:
    """What no file may hold, in the files given; binary ones are left out."""
    found = []
    for path in paths:
        try:
            text = read_text(root, path)
        except PageError as error:
            if b"\0" not in (root / path).read_bytes():
                found.append(error.problem)
            continue
        found += _line_problems(path, text)
        found += _credential_problems(path, text)
    return sorted(found, key=lambda problem: (problem.path, problem.line))


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
