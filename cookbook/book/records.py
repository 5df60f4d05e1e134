"""What runs left behind: one JSON file per environment in verified/.

A file is written by ``pytest --save-runs``, whole or not at all, and never by hand. Its
name follows from its environment.
A block counts as verified only while its text still has the recorded hash.
"""

import json
import platform
import re
import subprocess
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path

from packaging.version import Version

from cookbook.book.pages import Block

SCHEMA = 2
FOLDER = Path("verified")
# "warned": it passes, but for a warning that a release or another library gives.
STATUSES = {"passed", "warned", "failed"}


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
    def minor(self) -> tuple[int, int]:
        """Its release without the patch: (2, 15)."""
        return self.torch_order.major, self.torch_order.minor

    @property
    def torch_order(self) -> Version:
        return Version(self.environment["torch"])  # nightlies come before releases

    @property
    def failed(self) -> list[dict]:
        return [b for b in self.document["blocks"] if b["status"] == "failed"]


def name_of(environment: dict) -> str:
    """The file name an environment has: ``cpu-torch2.15.0-py3.11``."""
    device = device_slug(environment["device"])
    release = environment["torch"].partition("+")[0]
    python = ".".join(environment["python"].split(".")[:2])
    return f"{device}-torch{release}-py{python}"


def device_slug(device: str) -> str:
    """What stands for a device in file names: ``nvidia-h200``."""
    return re.sub(r"[^a-z0-9]+", "-", device.lower()).strip("-")


def environment(root: Path, probed: str) -> dict:
    """Describe this environment, by what running/probe.py printed."""
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


def write(root: Path, environment: dict, blocks: list[dict], known: set[str]) -> Path:
    """Write an environment's record.

    A run of a part of the blocks takes nothing away: what it did not run stays as the
    old record has it, while its path is ``known``.
    """
    file = root / FOLDER / f"{name_of(environment)}.json"
    kept = []
    if file.exists() and fault(file) is None:
        old = json.loads(file.read_text("utf-8"))["blocks"]
        kept = [block for block in old if block["path"] in known]
    merged = {block["path"]: block for block in [*kept, *blocks]}
    document = {
        "schema": SCHEMA,
        "environment": dict(sorted(environment.items())),
        "blocks": sorted(merged.values(), key=lambda block: block["path"]),
    }
    write_whole(file, document)
    return file


def write_whole(file: Path, document: dict) -> None:
    """Write a document as JSON; the old one stays until the new is whole."""
    file.parent.mkdir(parents=True, exist_ok=True)
    temporary = file.with_suffix(".tmp")
    text = json.dumps(document, ensure_ascii=False, indent=1)
    temporary.write_text(f"{text}\n", encoding="utf-8")
    temporary.replace(file)


def load(root: Path) -> list[Record]:
    """The records, newest torch first, then by name; invalid ones are left out."""
    records = [
        Record(file.stem, json.loads(file.read_text("utf-8")))
        for file in files(root)
        if fault(file) is None
    ]
    return sorted(records, key=lambda record: record.torch_order, reverse=True)


def files(root: Path) -> list[Path]:
    """The files of records, believable or not."""
    return sorted((root / FOLDER).glob("*.json"))


def fault(file: Path) -> str | None:
    """Why a record does not count; None where it does."""
    try:
        document = json.loads(file.read_text("utf-8"))
        schema, name = document["schema"], name_of(document["environment"])
        strange = {block["status"] for block in document["blocks"]} - STATUSES
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        return f"{type(error).__name__}: {error}"
    if schema != SCHEMA:
        return f"its schema is not {SCHEMA}"
    if strange:
        return f"no block can be {', '.join(sorted(strange))}"
    return None if file.stem == name else f"it is that of {name}"
