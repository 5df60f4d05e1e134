"""Old addresses, and the recipe or the category that each leads to: docs/moved.yml."""

import re
from collections.abc import Iterator
from pathlib import Path

FILE = Path("docs/moved.yml")
ADDRESS = re.compile(r"[a-z0-9-]+/[a-z0-9-]+")


def load(root: Path) -> dict[str, str]:
    """Where each old ``<category>/<slug>`` leads."""
    return {old: new for _, old, new in listed(root)}


def listed(root: Path) -> Iterator[tuple[int, str, str]]:
    """The lines ``old: new`` of the file, right or wrong, with their numbers."""
    file = root / FILE
    text = file.read_text("utf-8") if file.exists() else ""
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip() and not line.startswith("#"):
            old, _, new = line.partition(":")
            yield number, old.strip(), new.strip()
