"""What other releases of torch say instead of a message that a page quotes.

docs/wordings.json is written by ``make compat``, through tests/wordings.py.
"""

import json
from pathlib import Path

from cookbook.book.pages import Page

FILE = Path("docs/wordings.json")


def load(root: Path) -> list[dict[str, str]]:
    """What was heard: page, the message it quotes, torch, what was raised."""
    file = root / FILE
    return json.loads(file.read_text("utf-8")) if file.exists() else []


def of(page: Page) -> dict[str, list[str]]:
    """Each wording that the page does not quote, and the releases that use it."""
    found: dict[str, list[str]] = {}
    address = f"{page.category}/{page.slug}"
    for entry in load(page.root):
        raised = entry["raised"]
        if entry["page"] == address and not raised.startswith(tuple(page.errors)):
            found.setdefault(raised, []).append(entry["torch"])
    return found


def quoted(page: Page, raised: str) -> str:
    """The message that a page quotes in place of a wording."""
    address = f"{page.category}/{page.slug}"
    same = (e for e in load(page.root) if (e["page"], e["raised"]) == (address, raised))
    return next(same)["message"]


def write(root: Path, torch: str, heard: list[tuple[str, str, str]]) -> None:
    """Note what a release raised: page, message and first line, where they differ.

    What was heard of other messages, and of other releases, stays.
    """
    settled = {(page, message) for page, message, _ in heard}
    kept = [
        entry
        for entry in load(root)
        if entry["torch"] != torch or (entry["page"], entry["message"]) not in settled
    ]
    new = {
        (page, message): raised.split("\n")[0]
        for page, message, raised in heard
        if not raised.startswith(message.split("\n")[0])
    }
    kept += [
        {"page": page, "message": message, "torch": torch, "raised": raised}
        for (page, message), raised in new.items()
    ]
    kept.sort(key=lambda entry: tuple(entry.values()))
    text = json.dumps(kept, ensure_ascii=False, indent=1)
    (root / FILE).write_text(f"{text}\n", encoding="utf-8")
