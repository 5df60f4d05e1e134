"""The rules of a page's words: its language, its terms, its links and images."""

import itertools
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from cookbook.book.markdown import Passage, words
from cookbook.book.pages import HAN, LANGUAGES, Page, PageError, parse_yaml
from cookbook.rules import Problem

GLOSSARY = Path("docs/glossary.yml")
# Pages of each language that are built, so in no folder.
GENERATED = ("apis.md", "messages.md", "verified.md", "rules.md")
HALF_WIDTH = re.compile(r"[\u3400-\u9fff][,.;!?](?=[\u3400-\u9fff]|\s*$)")
WORD = re.compile(r"[A-Za-z][a-z]+")
UNTRANSLATED_WORDS = 3  # fewer are a name, except in a title or a heading
EXTERNAL = re.compile(r"[a-z]+:")
FOREIGN = re.compile(r"https?:|[\\/]{2}", re.IGNORECASE)  # a browser would load it


class Term(NamedTuple):
    """How a term is written in Chinese, and how it is not."""

    en: str
    zh: str
    also: tuple[str, ...] = ()
    avoid: tuple[str, ...] = ()

    def wrong_in(self, text: str) -> set[str]:
        """The avoided words, but not those within the term itself, nor it in them."""
        if not any(word in text for word in self.avoid):
            return set()
        words = sorted([self.zh, *self.also, *self.avoid], key=len, reverse=True)
        return {*re.findall("|".join(map(re.escape, words)), text)} & {*self.avoid}


def glossary(root: Path) -> list[Term]:
    """The terms of docs/glossary.yml, in its order."""
    entries = parse_yaml((root / GLOSSARY).read_text(encoding="utf-8"))
    return [Term(**entry) for entry in entries]


def problems(root: Path, pages: list[Page]) -> Iterator[Problem]:
    """What is wrong with the words of the pages, recipes and others."""
    terms = glossary(root)
    for page in pages:
        if page.lang in LANGUAGES:
            passages = [*_front_matter(page), *page.document.passages]
            yield from _language_problems(page, passages)
            if page.lang == "zh":
                yield from _term_problems(page, passages, terms)
                yield from _punctuation_problems(page, passages)
        yield from _image_problems(page)
        yield from _link_problems(root, page)


def _front_matter(page: Page) -> list[Passage]:
    """The title and the description."""
    try:
        meta = page.meta
    except PageError:
        return []  # another rule says so
    found = []
    for key in ("title", "description"):
        text = words(str(meta.get(key, "")))
        found.append(Passage([(page.meta_line(key), text)], key == "title"))
    return found


def _language_problems(page: Page, passages: list[Passage]) -> Iterator[Problem]:
    """Chinese pages are in Chinese, English ones in English."""
    for passage in passages:
        text = " ".join(passage.text.split())
        enough = 1 if passage.is_heading else UNTRANSLATED_WORDS
        if page.lang == "zh" and len(WORD.findall(text)) >= enough:
            if not HAN.search(text):
                yield page.problem(passage.line, "prose-not-chinese", text=text)
        elif page.lang == "en" and HAN.search(text):
            yield page.problem(passage.line, "prose-not-english", text=text)


def _term_problems(
    page: Page, passages: list[Passage], terms: list[Term]
) -> Iterator[Problem]:
    for number, text in itertools.chain(*(passage.lines for passage in passages)):
        for term in terms:
            for word in sorted(term.wrong_in(text)):
                facts = {"word": word, "zh": term.zh, "en": term.en}
                yield page.problem(number, "term-not-in-glossary", **facts)


def _punctuation_problems(page: Page, passages: list[Passage]) -> Iterator[Problem]:
    for number, text in itertools.chain(*(passage.lines for passage in passages)):
        if found := HALF_WIDTH.search(text):
            yield page.problem(number, "half-width-punctuation", text=found[0])


def _image_problems(page: Page) -> Iterator[Problem]:
    for link in page.document.links:
        if link.alt is None:
            continue
        if not link.alt.strip():
            yield page.problem(link.line, "image-without-description")
        if FOREIGN.match(link.target):
            yield page.problem(link.line, "third-party-request", address=link.target)


def _link_problems(root: Path, page: Page) -> Iterator[Problem]:
    """Links to files that are not there; MkDocs looks at the headings."""
    for link in page.document.links:
        target, _, _ = link.target.partition("#")
        elsewhere = EXTERNAL.match(target) or FOREIGN.match(target)
        if target and not elsewhere and not _leads_to_file(root, page, target):
            yield page.problem(link.line, "link-broken", target=link.target)


def _leads_to_file(root: Path, page: Page, target: str) -> bool:
    """Whether a link leads to a file of its language, written, a stub, or built.

    A link from the root of the host leads nowhere: the site may stand elsewhere.
    """
    docs = Path(*page.path.parts[:2])
    path = Path(os.path.normpath(page.path.parent / target))
    if not path.is_relative_to(docs):
        return False
    is_category = path.parent.parent == docs and path.name == "index.md"
    if is_category or (path.parent == docs and path.name in GENERATED):
        return True
    twin = Page(root, path, "").twin_path if page.lang in LANGUAGES else path
    return (root / path).exists() or (path.suffix == ".md" and (root / twin).exists())
