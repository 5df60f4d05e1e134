"""What runs left behind: one JSON file per environment in verified/.

A file is written by ``pytest --verify``, whole or not at all, and never by hand. Its
name follows from its environment.
A block counts as verified only while its text still has the recorded hash.
"""

import json
import platform
import re
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path

from packaging.version import Version

from cookbook.pages import Block
from cookbook.rules import Problem

SCHEMA = 1
FOLDER = Path("verified")
SCHEMA_FILE = Path(__file__).resolve().parents[1] / FOLDER / "schema.json"
PROBE = Path(__file__).parent / "running" / "probe.py"


@dataclass(frozen=True)
class Record:
    """One environment's last run."""

    name: str
    document: dict

    @property
    def environment(self) -> dict:
        return self.document["environment"]

    @property
    def kind(self) -> str:
        return self.environment["kind"]

    @property
    def date(self) -> str:
        return self.environment["date"]

    @property
    def commit(self) -> str | None:
        return self.environment["commit"]

    @cached_property
    def blocks(self) -> dict[str, dict]:
        """What came of each block, by its path."""
        return {block["path"]: block for block in self.document["blocks"]}

    def run_of(self, block: Block) -> dict | None:
        """What came of the block's exact text; None where that was not run."""
        run = self.blocks.get(block.path)
        return run if run and run["sha256"] == block.sha256 else None

    @property
    def torch(self) -> str:
        """The release, without the build's suffix."""
        return self.environment["torch"].partition("+")[0]

    @property
    def torch_order(self) -> Version:
        return Version(self.environment["torch"])  # nightlies come before releases

    @property
    def failed(self) -> list[dict]:
        return [b for b in self.document["blocks"] if b["status"] == "failed"]


def name_of(environment: dict) -> str:
    """The file name an environment has: ``cpu-torch2.15.0-py3.11``."""
    device = re.sub(r"[^a-z0-9]+", "-", environment["device"].lower()).strip("-")
    release = environment["torch"].partition("+")[0]
    python = ".".join(environment["python"].split(".")[:2])
    return f"{device}-torch{release}-py{python}"


def environment(root: Path, probed: str) -> dict:
    """Describe this environment, by what PROBE printed where the blocks run."""
    return {
        **json.loads(probed),
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
        "date": datetime.now(UTC).date().isoformat(),
        "commit": commit(root),
    }


def commit(root: Path) -> str | None:
    """The checked-out commit; None outside a checkout."""
    return git(root, "rev-parse", "HEAD") or None


def git(root: Path, *arguments: str) -> str:
    """What git answers; nothing where it fails, and on a machine without git."""
    command = ["git", *arguments]
    try:
        result = subprocess.run(
            command, cwd=root, capture_output=True, text=True, check=False
        )
    except FileNotFoundError:
        return ""
    return result.stdout.strip() if result.returncode == 0 else ""


def write(root: Path, environment: dict, blocks: list[dict], complete: bool) -> Path:
    """Write an environment's record; the old one stays until the new is whole.

    A run of a part of the blocks takes nothing away: what it did not run stays as the
    old record has it.
    """
    file = root / FOLDER / f"{name_of(environment)}.json"
    kept = []
    if not complete and file.exists() and problem(root, file) is None:
        kept = json.loads(file.read_text("utf-8"))["blocks"]
    merged = {block["path"]: block for block in [*kept, *blocks]}
    document = {
        "schema": SCHEMA,
        "environment": dict(sorted(environment.items())),
        "complete": complete,
        "blocks": sorted(merged.values(), key=lambda block: block["path"]),
    }
    file.parent.mkdir(exist_ok=True)
    temporary = file.with_suffix(".tmp")
    temporary.write_text(_text(document), encoding="utf-8")
    temporary.replace(file)
    return file


class MergeError(Exception):
    """These records are not parts of one run."""


def merge(root: Path, parts: list[Path], blocks: list[Block]) -> list[Path]:
    """Join the records of a run that was split: one per environment.

    Such a record is complete where it has all the ``blocks`` that can run there.

    Raises:
        MergeError: a part is no record, or was made from another commit.
    """
    if bad := [str(found) for part in parts if (found := problem(root, part))]:
        raise MergeError("\n".join(bad))
    runs: dict[str, list[dict]] = {}
    for part in parts:
        runs.setdefault(part.stem, []).append(json.loads(part.read_text("utf-8")))
    return [_join(root, run, blocks) for run in runs.values()]


def _join(root: Path, run: list[dict], blocks: list[Block]) -> Path:
    environment = run[-1]["environment"]
    commits = {part["environment"]["commit"] for part in run}
    if len(commits) > 1:
        names = ", ".join(sorted(map(str, commits)))
        raise MergeError(f"{name_of(environment)}: of several commits: {names}")
    left_out = ("skip",) if environment["kind"] == "gpu" else ("skip", "gpu")
    wanted = {block.sha256 for block in blocks if block.mark not in left_out}
    done = [block for part in run for block in part["blocks"]]
    done.sort(key=lambda block: block["status"] == "failed")  # the last one counts
    complete = wanted <= {block["sha256"] for block in done}
    return write(root, environment, done, complete)


def renamed(root: Path, new_path: Callable[[str], str]) -> dict[Path, str]:
    """The text of each believable record, its blocks under their new paths."""
    texts = {}
    for file in files(root):
        if problem(root, file) is None:
            document = json.loads(file.read_text("utf-8"))
            for block in document["blocks"]:
                block["path"] = new_path(block["path"])
            document["blocks"].sort(key=lambda block: block["path"])
            texts[file.relative_to(root)] = _text(document)
    return texts


def _text(document: dict) -> str:
    """A record as its file has it."""
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def load(root: Path) -> list[Record]:
    """The records, newest torch first, then by name; invalid ones are left out."""
    records = [
        Record(file.stem, json.loads(file.read_text("utf-8")))
        for file in files(root)
        if problem(root, file) is None
    ]
    return sorted(records, key=lambda record: record.torch_order, reverse=True)


def problems(root: Path) -> list[Problem]:
    """Records that cannot be believed."""
    found = [problem(root, file) for file in files(root)]
    for record in _of_unknown_commits(root):
        why = f"it is of commit {record.commit}, which is not in the history"
        found.append(_problem(FOLDER / f"{record.name}.json", why))
    return [one for one in found if one]


def _of_unknown_commits(root: Path) -> list[Record]:
    """The records of commits that the history does not have.

    Nothing can be said without git, in a shallow clone, and in a history that was
    begun anew and so knows none of the commits.
    """
    if git(root, "rev-parse", "--is-shallow-repository") != "false":
        return []
    named = [record for record in load(root) if record.commit]
    unknown = [one for one in named if not git(root, "cat-file", "-t", one.commit)]
    return unknown if len(unknown) < len(named) else []


def files(root: Path) -> list[Path]:
    """The files of records, believable or not."""
    found = sorted((root / FOLDER).glob("*.json"))
    return [file for file in found if file.name != "schema.json"]


def schema_error(document: object):
    """The most relevant fault that schema.json finds in a document, or None."""
    from jsonschema import Draft202012Validator  # not needed where blocks only run
    from jsonschema.exceptions import best_match

    schema = json.loads(SCHEMA_FILE.read_text("utf-8"))
    return best_match(Draft202012Validator(schema).iter_errors(document))


def problem(root: Path, file: Path) -> Problem | None:
    """Why a record does not count; None where it does."""
    path, today = file.relative_to(root), datetime.now(UTC).date().isoformat()
    try:
        document = json.loads(file.read_text("utf-8"))
    except ValueError as error:
        return _problem(path, error)
    if fault := schema_error(document):
        return _problem(path, f"{fault.json_path}: {fault.message[:100]}")
    if file.stem != (name := name_of(document["environment"])):
        return _problem(path, f"it is that of {name}")
    if (date := document["environment"]["date"]) > today:
        return _problem(path, f"it is of {date}, which is yet to come")
    return None


def _problem(path: Path, why: object) -> Problem:
    return Problem(path, 1, "record-malformed", {"why": why})
