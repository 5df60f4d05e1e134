"""The rules of every file: no credentials, no path of one machine, no TODO."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from detect_secrets.core.plugins.util import get_mapping_from_secret_type_to_class
from detect_secrets.core.scan import scan_file
from detect_secrets.settings import transient_settings

from cookbook.checks.rules import Problem

FOLDERS = ("docs", "snippets", "tests", "cookbook", "benchmarks")
SUFFIXES = (".md", ".py", ".yml", ".out")
# A recipe is finished; the engine may speak of the word.
FINISHED = ("docs", "snippets", "tests/snippets")
TODO = re.compile(r"\bTODO\b.*")
# Where people keep their files; a recipe writes into the current folder.
MACHINE_PATH = re.compile(r"(?<![\w.])/(?:home|Users|root)/\w+|\b[A-Z]:\\+\w{2,}\\")
# Hashes and words of code are random enough to be taken for secrets.
GUESSING = ("Base64HighEntropyString", "HexHighEntropyString")


def files(root: Path) -> list[Path]:
    """The text files that people write, relative to the root."""
    found = (path for folder in FOLDERS for path in (root / folder).rglob("*"))
    paths = (path.relative_to(root) for path in found if path.suffix in SUFFIXES)
    return sorted(path for path in paths if "__pycache__" not in path.parts)


def problems(root: Path, paths: Iterable[Path]) -> list[Problem]:
    """What no file may hold, in the files given."""
    found = []
    for path in paths:
        found += _line_problems(root, path)
    found += _credential_problems(root, paths)
    return sorted(found, key=lambda problem: (problem.path, problem.line))


def _line_problems(root: Path, path: Path) -> Iterator[Problem]:
    finished = any(path.is_relative_to(folder) for folder in FINISHED)
    lines = (root / path).read_text(encoding="utf-8").split("\n")
    for number, line in enumerate(lines, start=1):
        if machine := MACHINE_PATH.search(line):
            yield Problem(path, number, "F102", {"found": machine[0]})
        if finished and (left := TODO.search(line)):
            yield Problem(path, number, "F103", {"text": left[0].strip()})


def _credential_problems(root: Path, paths: Iterable[Path]) -> Iterator[Problem]:
    """What detect-secrets knows the form of; its guesses by entropy are left out."""
    plugins = get_mapping_from_secret_type_to_class().values()
    names = [plugin.__name__ for plugin in plugins if plugin.__name__ not in GUESSING]
    with transient_settings({"plugins_used": [{"name": name} for name in names]}):
        for path in paths:
            for secret in scan_file(str(root / path)):
                yield Problem(path, secret.line_number, "F101", {"kind": secret.type})
