"""The rules of a page's words: its language, its terms, its links and images."""

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from cookbook.pages import HAN, LANGUAGES, Page, PageError, parse_yaml
from cookbook.rules import Problem

GLOSSARY = Path("docs/glossary.yml")
# The Markdown files outside docs/ that readers follow links in.
GUIDES = ("README.md", "CONTRIBUTING.md", "CONTRIBUTING.zh.md")
# Built, so in no folder: pages of each language, and ids of a recipe's page.
GENERATED = ("apis.md", "errors.md", "verified.md", "rules.md")
DERIVED_IDS = {"verified", "apis", "related"}
WORD = re.compile(r"[A-Za-z][a-z]+")
UNTRANSLATED_WORDS = 3  # fewer are a name, except in a title or a heading
FENCE = re.compile(r"\s*(`{3,}|~{3,})")
# What is not prose: comments, code, attributes, and where a link leads.
NOT_PROSE = re.compile(r"<!--.*?-->|`+[^`]+`+|\{[^}]*\}|(?<=\])\([^)]*\)|<[^>]+>")
CODE = re.compile(r"(`+[^`]+`+)")
PARAGRAPH_START = re.compile(r"\s*([-*+]|\d+\.|#{1,6}|\||>|!!!)\s")
IMAGE = re.compile(r"!\[(?P<alt>[^\]]*)\]\(|<img(?P<tag>[^>]*)>")
ALT = re.compile(r"""alt=["']\s*[^"'\s]""")
LINK = re.compile(r"\]\((?P<target>[^)\s]+)\)")
EXTERNAL = re.compile(r"[a-z]+:")


@dataclass(frozen=True)
class Term:
    """How a term is written in Chinese, and how it is not."""

    en: str
    zh: str
    also: tuple[str, ...] = ()
    avoid: tuple[str, ...] = ()

    @cached_property
    def pattern(self) -> re.Pattern:
        """Finds the avoided words, and the term itself where it holds one."""
        words = sorted([self.zh, *self.also, *self.avoid], key=len, reverse=True)
        return re.compile("|".join(map(re.escape, words)))


def glossary(root: Path) -> list[Term]:
    """The terms of docs/glossary.yml, in its order."""
    entries = parse_yaml((root / GLOSSARY).read_text(encoding="utf-8"))
    lists = [(tuple(e.get("also", ())), tuple(e.get("avoid", ()))) for e in entries]
    return [
        Term(e["en"], e["zh"], *more) for e, more in zip(entries, lists, strict=True)
    ]


def problems(root: Path, pages: list[Page]) -> Iterator[Problem]:
    """What is wrong with the words of the pages, recipes and others."""
    terms = glossary(root)
    for page in pages:
        lines = prose(page.body)
        if page.lang in LANGUAGES:
            passages = [*_front_matter(page), *lines]
            yield from _language_problems(page, passages)
            if page.lang == "zh":
                yield from _term_problems(page, passages, terms)
                yield from _code_problems(page, passages)
        yield from image_problems(page.path, lines)
        yield from _link_problems(root, page)
    for path in GUIDES:
        if (root / path).exists():
            yield from _guide_problems(root, Path(path))


def prose(body: str) -> list[tuple[int, str]]:
    """The numbered lines outside fenced code; blank ones stay, they separate."""
    lines, fence = [], None
    for number, line in enumerate(body.split("\n"), start=1):
        ticks = FENCE.match(line)
        if ticks and fence is None:
            fence = ticks[1]
        elif ticks and ticks[1].startswith(fence):
            fence = None
        elif fence is None:
            lines.append((number, line))
    return lines


def _front_matter(page: Page) -> list[tuple[int, str]]:
    """The title and the description, each a paragraph of its own."""
    try:
        meta = page.meta
    except PageError:
        return []  # another rule says so
    found = []
    for key in ("title", "description"):
        found += [(page.meta_line(key), str(meta.get(key, ""))), (0, "")]
    return found


def _paragraphs(lines: Iterable[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Lines joined to paragraphs, headings, list items and table rows."""
    start, words = 0, []
    for number, line in [*lines, (0, "")]:
        if words and (not line.strip() or PARAGRAPH_START.match(line)):
            yield start, " ".join(words)
            words = []
        if line.strip():
            start = start if words else number
            words.append(line.strip())


def _language_problems(page: Page, lines: list[tuple[int, str]]) -> Iterator[Problem]:
    """Chinese pages are in Chinese, English ones in English."""
    title = page.meta_line("title")
    for number, paragraph in _paragraphs(lines):
        text = NOT_PROSE.sub(" ", paragraph)
        words = WORD.findall(text)
        is_title = paragraph.startswith("#") or number == title
        enough = 1 if is_title else UNTRANSLATED_WORDS
        if page.lang == "zh" and len(words) >= enough:
            if not HAN.search(text):
                yield page.problem(number, "prose-not-chinese", text=_beginning(text))
        elif page.lang == "en" and HAN.search(text):
            yield page.problem(number, "prose-not-english", text=_beginning(text))


def _beginning(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 30 else f"{text[:30]}…"


def _term_problems(
    page: Page, lines: list[tuple[int, str]], terms: list[Term]
) -> Iterator[Problem]:
    avoided = "|".join(re.escape(word) for term in terms for word in term.avoid)
    suspicious = re.compile(avoided or "(?!)")  # few lines are; they are looked into
    for number, line in lines:
        text = NOT_PROSE.sub(" ", line)
        for term in terms if suspicious.search(text) else ():
            found = set(term.pattern.findall(text)) - {term.zh, *term.also}
            for word in sorted(found):
                facts = {"word": word, "zh": term.zh, "en": term.en}
                yield page.problem(number, "term-not-in-glossary", **facts)


def _code_problems(page: Page, lines: list[tuple[int, str]]) -> Iterator[Problem]:
    """Names of variables in Chinese, in code that somebody may paste."""
    for number, line in lines:
        for code in CODE.findall(line):
            if HAN.search(code):
                yield page.problem(number, "chinese-in-code", code=code)


def image_problems(path: Path, lines: list[tuple[int, str]]) -> Iterator[Problem]:
    for number, line in lines:
        for image in IMAGE.finditer(line):
            tag = image["tag"]
            described = image["alt"].strip() if tag is None else ALT.search(tag)
            if not described:
                yield Problem(path, number, "image-without-description")


def _link_problems(root: Path, page: Page) -> Iterator[Problem]:
    """Links between pages, and to their headings."""
    for number, line in prose(page.body):
        for link in LINK.finditer(line):
            target, _, anchor = link["target"].partition("#")
            if EXTERNAL.match(target):
                continue
            linked = _linked_page(root, page, target) if target else page
            if linked is None:
                yield page.problem(number, "link-broken", target=link["target"])
            elif anchor and isinstance(linked, Page) and anchor not in _ids(linked):
                facts = {"anchor": anchor, "page": linked.path}
                yield page.problem(number, "link-anchor-unknown", **facts)


def _linked_page(root: Path, page: Page, target: str) -> Page | Path | None:
    """The page a link leads to, or the path of another file; None for neither.

    A link from the root of the host leads nowhere: the site may stand elsewhere.
    """
    docs = Path(*page.path.parts[:2])
    path = Path(os.path.normpath(page.path.parent / target))
    if not path.is_relative_to(docs):
        return None
    is_category = path.parent.parent == docs and path.name == "index.md"
    if is_category or (path.parent == docs and path.name in GENERATED):
        return path
    if page.lang in LANGUAGES and path.suffix == ".md" and not (root / path).exists():
        path = Page(root, path, "").twin_path  # whose ids the stub has too
    if not (root / path).exists():
        return None
    return Page.load(root, path) if path.suffix == ".md" else path


def _ids(page: Page) -> set[str]:
    ids = {heading.id for heading in page.headings if heading.id}
    return ids | DERIVED_IDS | {page.slug}


def _guide_problems(root: Path, path: Path) -> Iterator[Problem]:
    """Images and links of a file that is read on the repository's site."""
    text = (root / path).read_text(encoding="utf-8", errors="replace")  # F104 says so
    lines = prose(text)
    yield from image_problems(path, lines)
    for number, line in lines:
        for link in LINK.finditer(line):
            target, _, anchor = link["target"].partition("#")
            if EXTERNAL.match(target):
                continue
            file = root / path.parent / target if target else root / path
            if not file.exists():
                yield Problem(path, number, "link-broken", {"target": link["target"]})
            elif anchor and file.suffix == ".md" and anchor not in _slugs(file):
                facts = {"anchor": anchor, "page": target or path}
                yield Problem(path, number, "link-anchor-unknown", facts)


def _slugs(file: Path) -> set[str]:
    """The ids that GitHub gives to the headings of a file."""
    headings = re.findall(
        r"^#+ (.+)$", file.read_text("utf-8", "replace"), re.MULTILINE
    )
    return {
        re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        for heading in headings
    }
