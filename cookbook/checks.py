"""The structure of pages and snippets: every rule the build and tests enforce."""

import ast
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from mkdocs.utils import is_markdown_file

from cookbook import records
from cookbook.catalogue import Catalogue
from cookbook.pages import INCLUDE, LANGUAGES, PYTHON, Page, PageError, Problem

SLUG = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
SENTENCE_END = {"en": ".", "zh": "。"}
NEXT_SENTENCE = {"en": ". ", "zh": "。"}  # a Chinese one follows without a space
MAX_LINES, MAX_COLUMNS = 60, 79
STRINGS, OPTIONAL = ("title", "description"), ("aliases",)
ENGLISH_ONLY = ("related", "covers", "tags")
ANNOTATION = re.compile(r"# \(\d+\)!")


def problems(catalogue: Catalogue) -> list[Problem]:
    """Everything wrong with the pages and snippets, by file and line."""
    found = list(_page_problems(catalogue))
    broken = {problem.path for problem in found}
    found += _twin_problems(catalogue, broken)
    found += _reference_problems(catalogue, broken)
    found += _stray_pages(catalogue)
    found += _snippet_problems(catalogue)
    found += records.problems(catalogue.root)
    return sorted(found, key=lambda problem: (problem.path, problem.line))


def _page_problems(catalogue: Catalogue) -> Iterator[Problem]:
    """Each page by itself: folder, name, front matter, blocks, headings."""
    known = {category.slug for category in catalogue.categories}
    for page in catalogue.pages:
        if page.category not in known:
            what = f"unknown category {page.category}"
            fix = "add it to docs/categories.yml, or move the page"
            yield page.problem(1, what, fix)
        if not SLUG.fullmatch(page.slug):
            fix = "name the file in lower-case words joined by -"
            yield page.problem(1, f"{page.path.name} is no slug", fix)
        try:
            yield from _front_matter_problems(page)
            yield from _block_problems(page)
        except PageError as error:
            yield error.problem
        yield from _heading_problems(page)
    for page in catalogue.other_pages:
        for number, line in enumerate(page.body.split("\n"), start=1):
            if line.lstrip("> ").startswith(("```", "~~~")):
                what = "a code block outside a recipe would be shown but not run"
                yield page.problem(number, what, "move it to a recipe's page")


def _front_matter_problems(page: Page) -> Iterator[Problem]:
    meta, at = page.meta, page.meta_line
    english_only = ENGLISH_ONLY if page.lang == "en" else ()
    allowed = (*STRINGS, "aliases", *english_only)
    for key in meta:
        if key not in allowed:
            where = " (it stands on the English page)" if key in ENGLISH_ONLY else ""
            fix = f"remove it{where}; known are {', '.join(allowed)}"
            yield page.problem(at(key), f"unknown front matter key {key}", fix)
    for key in STRINGS:
        if not isinstance(meta.get(key), str) or not meta[key].strip():
            fix = f"write {key}: … in the front matter"
            yield page.problem(at(key), f"no {key}", fix)
    for key in ("aliases", *english_only):
        value = meta.get(key, [])
        if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
            fix = f"write {key}: [a, b], in quotes where a word holds a colon"
            yield page.problem(at(key), f"{key} is not a list of words", fix)
    if not meta.get("aliases"):
        fix = "list the words people search for, and the errors they paste"
        yield page.problem(at("aliases"), "no aliases", fix)
    description, end = str(meta.get("description", "")), SENTENCE_END[page.lang]
    several = NEXT_SENTENCE[page.lang] in description[:-1]
    if description and (several or not description.endswith(end)):
        what = "the description is not one sentence"
        fix = f"say when to use it, and when not, in one sentence ending in {end}"
        yield page.problem(at("description"), what, fix)


def _block_problems(page: Page) -> Iterator[Problem]:
    if not any(block.language == PYTHON for block in page.blocks):
        fix = 'show a snippet: ```python with --8<-- "<category>/<file>.py"'
        yield page.problem(1, "no Python block", fix)


def _heading_problems(page: Page) -> Iterator[Problem]:
    seen: set[str] = set()
    for heading in page.headings:
        if heading.level == 1:
            fix = "remove it; the site shows the front matter's title"
            yield page.problem(heading.line, "a heading of level 1", fix)
        elif heading.id is None:
            fix = "write ## Heading {#id}, the same id in both languages"
            yield page.problem(heading.line, "a heading without an id", fix)
        elif heading.id in seen:
            what = f"the id {heading.id} stands twice"
            yield page.problem(heading.line, what, "choose another")
        seen.add(heading.id)


def _stray_pages(catalogue: Catalogue) -> Iterator[Problem]:
    """MkDocs would publish these, and nothing would run their blocks."""
    known = {page.path for page in (*catalogue.pages, *catalogue.other_pages)}
    for name in ("root", *LANGUAGES):
        for file in sorted((catalogue.root / "docs" / name).rglob("*")):
            path = file.relative_to(catalogue.root)
            if is_markdown_file(path.name) and path not in known:
                fix = "move it to docs/<lang>/<category>/<slug>.md"
                yield Problem(path, 1, "a page that no recipe is", fix)


def _twin_problems(catalogue: Catalogue, broken: set[Path]) -> Iterator[Problem]:
    """English and Chinese show the same blocks, headings, errors and links."""
    pages = {page.path: page for page in catalogue.pages}
    for page in catalogue.pages:
        twin = pages.get(page.twin_path)
        if twin is None:
            fix = f"write {page.twin_path}, with the same blocks and heading ids"
            yield page.problem(1, "no page in the other language", fix)
        elif page.lang == LANGUAGES[0] and not broken & {page.path, twin.path}:
            yield from _differences(page, twin)
    for page in catalogue.other_pages:
        if page.lang in LANGUAGES and not (catalogue.root / page.twin_path).exists():
            fix = f"write {page.twin_path}"
            yield page.problem(1, "no page in the other language", fix)


def _differences(page: Page, twin: Page) -> Iterator[Problem]:
    blocks = [(block.identity, block.line) for block in page.blocks]
    others = [(block.identity, block.line) for block in twin.blocks]
    fix = f"show the same blocks with the same marks as {page.path}, in that order"
    yield from _first_difference(twin, blocks, others, "blocks differ", fix)
    headings = [((h.level, h.id), h.line) for h in page.headings]
    others = [((h.level, h.id), h.line) for h in twin.headings]
    fix = f"use the heading ids of {page.path}, in that order"
    yield from _first_difference(twin, headings, others, "heading ids differ", fix)
    errors = [(f.code, f.line) for f in page.fences if f.language == "pytb"]
    others = [(f.code, f.line) for f in twin.fences if f.language == "pytb"]
    fix = f"quote the same messages as {page.path}"
    yield from _first_difference(twin, errors, others, "the ```pytb blocks differ", fix)
    for link in sorted(set(page.links) ^ set(twin.links)):
        where, other = (twin, page) if link in page.links else (page, twin)
        fix = f"link to it as {other.path} does, or remove it there"
        yield where.problem(1, f"no link to {link}", fix)


def _first_difference(
    twin: Page, ours: list, theirs: list, what: str, fix: str
) -> Iterator[Problem]:
    if [item for item, _ in ours] == [item for item, _ in theirs]:
        return
    pairs = zip(ours, theirs, strict=False)
    line = next((other[1] for one, other in pairs if one[0] != other[0]), None)
    if line is None:
        line = theirs[len(ours)][1] if len(theirs) > len(ours) else 1
    yield twin.problem(line, what, fix)


def _reference_problems(catalogue: Catalogue, broken: set[Path]) -> Iterator[Problem]:
    """``related`` and ``covers`` name what exists, and what does not."""
    slugs = [page.slug for page in catalogue.pages if page.lang == "en"]
    for page in catalogue.pages:
        if page.path in broken:
            continue
        at = partial(page.problem, page.meta_line("related"))
        for slug in page.meta.get("related", []):
            if slug not in slugs or slug == page.slug:
                yield at(f"related: no other recipe {slug}", "name an existing slug")
        for slug in page.meta.get("covers", []):
            if slug in slugs or not SLUG.fullmatch(slug):
                fix = "cover only tasks that have no page of their own"
                line = page.meta_line("covers")
                yield page.problem(line, f"covers: {slug} has a page", fix)
        if slugs.count(page.slug) > 1 and page.lang == "en":
            yield page.problem(1, f"two recipes are called {page.slug}", "rename one")


def _snippet_problems(catalogue: Catalogue) -> Iterator[Problem]:
    """Each snippet is shown somewhere, fits a screen, and claims something."""
    shown = set()
    for page in catalogue.pages:
        shown |= {Path("snippets", m["path"]) for m in INCLUDE.finditer(page.body)}
    for file in sorted((catalogue.root / "snippets").rglob("*.*")):
        path = file.relative_to(catalogue.root)
        if "__pycache__" in path.parts:
            continue
        if path.suffix == ".out" and not file.with_suffix(".py").exists():
            yield Problem(path, 1, "recorded output of no snippet", "remove it")
        elif path.suffix == ".py":
            if path not in shown:
                fix = f'show it: ```python with --8<-- "{path.relative_to("snippets")}"'
                yield Problem(path, 1, "a snippet on no page", fix)
            yield from _source_problems(path, file)


def _source_problems(path: Path, file: Path) -> Iterator[Problem]:
    source = file.read_text(encoding="utf-8")
    lines = source.split("\n")
    if len(lines) - 1 > MAX_LINES:
        what = f"{len(lines) - 1} lines; a snippet fits a screen"
        yield Problem(path, MAX_LINES + 1, what, f"cut it to {MAX_LINES}, or split it")
    for number, line in enumerate(lines, start=1):
        fault = _line_fault(line)
        if fault:
            yield Problem(path, number, *fault)
    if not source.endswith("\n") or source.endswith("\n\n"):
        fix = "end the file with one newline"
        yield Problem(path, len(lines), "the file's end would not survive copying", fix)
    try:
        tree = ast.parse(source)
    except SyntaxError as error:
        what = f"does not parse ({error.msg})"
        yield Problem(path, error.lineno or 1, what, "make it run by itself")
        return
    if not ast.get_docstring(tree):
        fix = 'begin with """One sentence that says what this is for."""'
        yield Problem(path, 1, "no docstring", fix)
    if not _claims(tree) and not file.with_suffix(".out").exists():
        fix = "assert what it shows, or print it and record the output"
        yield Problem(path, 1, "the snippet claims nothing", fix)


def _line_fault(line: str) -> tuple[str, str] | None:
    """What in a line would be shown or copied otherwise than it is written."""
    if len(line) > MAX_COLUMNS:
        return f"{len(line)} columns", f"break the line before {MAX_COLUMNS + 1}"
    if "\t" in line:
        return "a tab, which the page turns into spaces", "use spaces"
    if line != line.rstrip():
        return "spaces at the end of the line", "remove them"
    if "```" in line:
        return "``` inside a snippet ends the block on the page", "write it otherwise"
    if ANNOTATION.search(line):
        return "# (1)! becomes an annotation on the page", "write a plain comment"
    if "-8<-" in line:
        return "--8<-- inside a snippet would be expanded", "write it otherwise"
    return None


def _claims(tree: ast.Module) -> bool:
    """Whether anything is asserted: an assert, or a call named assert_…"""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assert):
            return True
        if isinstance(node, ast.Call):
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            if name.startswith("assert_"):
                return True
    return False
