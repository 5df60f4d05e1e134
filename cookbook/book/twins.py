"""Translations tell the truth: which page is in line with its twin, which is not.

A page's front matter keeps, as ``parity``, the hash of its twin's words when a
person last confirmed that the two say the same. While the hash still fits, the
page is in line; once the twin's words change, the page is behind, and says so.
Where a recipe has a page in one language only, a stub stands in for the other.
"""

import hashlib
import json
import re
from pathlib import Path

from cookbook.book.pages import ALT, PYTHON, YOURS, Block, Page, other_language

KEY = "parity"
DIGITS = 12
LINE = re.compile(rf"^{KEY}:.*\n", re.MULTILINE)
# How a title is marked where it stands among those of another language.
FOREIGN = {"en": "{title} (in Chinese)", "zh": "{title}（英文）"}


def words_hash(page: Page) -> str:
    """The hash of what a translator must follow: title, description, body, and
    what its pictures and the reader's names are.

    Not of the aliases, which each language has for itself, nor of the snippets,
    which both share. Line breaks and indentation do not count.
    """
    parts = [page.meta["title"], page.meta["description"], page.body]
    parts += [str(page.meta[key]) for key in (ALT, YOURS) if key in page.meta]
    text = "\n".join(" ".join(part.split()) for part in parts)
    return hashlib.sha256(text.encode()).hexdigest()[:DIGITS]


def is_behind(page: Page, twin: Page) -> bool:
    """Whether nobody has confirmed the page against the twin's present words."""
    return page.meta.get(KEY) != words_hash(twin)


def only_one_changed(page: Page, twin: Page) -> bool:
    """Whether the two were confirmed, and one has changed since and not the other."""
    confirmed = KEY in page.meta and KEY in twin.meta
    return confirmed and is_behind(page, twin) != is_behind(twin, page)


def marked(page: Page, digest: str) -> str:
    """The page's text with the hash last in its front matter.

    In quotes, since a hash may look like a number.
    """
    meta, body = LINE.sub("", page.front), page.body[page.front.count("\n") + 2 :]
    return f'---\n{meta}{KEY}: "{digest}"\n---\n{body}'


def stub(page: Page) -> Page:
    """The page that stands in for a twin nobody has written: the code alone."""
    path = page.twin_path
    lang = other_language(page.lang)
    meta = {
        "title": FOREIGN[lang].format(title=page.meta["title"]),
        "description": page.meta["description"],
        "aliases": [],
    }
    front = json.dumps(meta, ensure_ascii=False)  # JSON is YAML
    body = "\n".join(_block_source(block) for block in page.blocks)
    return Page(page.root, path, f"---\n{front}\n---\n\n{body}")


def _block_source(block: Block) -> str:
    """A block as a page's source has it."""
    marks = {
        "gpu": "<!--pytest.mark.gpu-->\n",
        "skip": f'<!--pytest.mark.skip(reason="{block.reason}")-->\n',
    }
    mark = marks.get(block.mark, "")
    code = block.code
    if block.language == PYTHON:
        include = block.snippet.relative_to(Path("snippets")).as_posix()
        code = f'--8<-- "{include}"\n'
    return f"{mark}```{block.language}\n{code}```\n"
