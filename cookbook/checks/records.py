"""Records of runs that cannot be believed."""

from pathlib import Path

from cookbook.book import records
from cookbook.book.records import FOLDER, Record
from cookbook.rules import Problem


def problems(root: Path) -> list[Problem]:
    """What is wrong with the files of verified/."""
    faults = {file: records.fault(file) for file in records.files(root)}
    for record in _of_unknown_commits(root):
        why = f"it is of commit {record.commit}, which is not in the history"
        faults[root / FOLDER / f"{record.name}.json"] = why
    return [
        Problem(file.relative_to(root), 1, "record-malformed", {"why": why})
        for file, why in faults.items()
        if why
    ]


def _of_unknown_commits(root: Path) -> list[Record]:
    """The records of commits that the history does not have.

    Nothing can be said without git, in a shallow clone, and in a history that was
    begun anew and so knows none of the commits.
    """
    if records.git(root, "rev-parse", "--is-shallow-repository") != "false":
        return []
    named = [record for record in records.load(root) if record.commit]
    unknown = [
        one for one in named if not records.git(root, "cat-file", "-t", one.commit)
    ]
    return unknown if len(unknown) < len(named) else []
