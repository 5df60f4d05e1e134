"""Old addresses, and the recipe or the category that each leads to: docs/moved.yml."""

import re
from pathlib import Path

import yaml

from cookbook.book.pages import parse_yaml

FILE = Path("docs/moved.yml")
ENTRY = re.compile(r"[a-z0-9-]+/[a-z0-9-]+: [a-z0-9-]+(/[a-z0-9-]+)?")


def load(root: Path) -> dict[str, str]:
    """Where each old ``<category>/<slug>`` leads; what is no entry aside."""
    try:
        entries = listed(root).items()
    except (yaml.YAMLError, AttributeError):
        return {}
    return {old: new for old, new in entries if ENTRY.fullmatch(f"{old}: {new}")}


def listed(root: Path) -> dict:
    """What the file holds, right or wrong; an error where it is no YAML."""
    file = root / FILE
    return (parse_yaml(file.read_text("utf-8")) or {}) if file.exists() else {}
