"""The structure of pages and snippets: every rule the build and tests enforce."""

import ast
import gzip
import re
from collections import defaultdict
from collections.abc import Collection, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

from cookbook.book.catalogue import CATEGORIES, Catalogue, Recipe
from cookbook.book.pages import (
    ALT,
    INCLUDE,
    LANGUAGES,
    PASSIVE,
    PYTHON,
    YOURS,
    Block,
    Page,
    PageError,
    tests_of,
)
from cookbook.book.syntax import names_gpu
from cookbook.book.twins import KEY
from cookbook.checks import (
    answers,
    files,
    messages,
    moved,
    proofs,
    prose,
    records,
    snippets,
)
from cookbook.checks.shown import Referee
from cookbook.checks.twins import confirm
from cookbook.checks.twins import problems as twin_problems
from cookbook.rules import Problem, limits

SLUG = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
SENTENCE_END = {"en": ".", "zh": "。"}
NEXT_SENTENCE = {"en": ". ", "zh": "。"}  # a Chinese one follows without a space
STRINGS, OPTIONAL = ("title", "description"), ("aliases", ALT, YOURS)
TEXTS = ("answer", "command", "shape")  # on the English page, for both
ENGLISH_ONLY = ("related", "covers", "tags", *TEXTS)
PROGRAM = "program"  # the one shape that a page must say
# A word; a Chinese character counts as one.
WORD = re.compile(r"[\u3400-\u9fff]|[^\W\u3400-\u9fff]+")
GPU_COMMAND = re.compile(r"nvidia-smi|\b(cuda|nccl|nvcc|nsys|ncu)\b")


def problems(
    catalogue: Catalogue, only: Collection[Path] | None = None, rendered: bool = True
) -> list[Problem]:
    """Everything wrong with the pages and snippets, by file and line.

    With ``only``, what is wrong with these files: the rest is looked into as far as
    recipes must differ or know each other. If ``rendered``, what the site shows of a
    page is compared, too.
    """
    if only is not None:
        only = {
            *only,
            *(page.twin_path for page in catalogue.pages if page.path in only),
        }
    everywhere = [*catalogue.pages, *catalogue.other_pages]
    pages = [page for page in everywhere if only is None or page.path in only]
    paths = {page.path for page in pages}
    recipes = [
        recipe
        for recipe in catalogue.recipes
        if any(page.path in paths for page in recipe.written.values())
    ]
    found = list(_page_problems(catalogue, paths))
    broken = {problem.path for problem in found}
    found += _twin_problems(recipes, broken)
    for recipe in recipes:
        if broken.isdisjoint(page.path for page in recipe.written.values()):
            found += answers.problems(recipe)
    found += _reference_problems(catalogue, broken)
    for lang in LANGUAGES:
        found += _taken_names(catalogue, lang, broken)
    found += _snippet_problems(catalogue, only)
    found += _unproved_outputs(catalogue, recipes)
    found += prose.problems(catalogue.root, pages)
    found += messages.problems(catalogue.root, recipes)
    found += _listing_problems(catalogue)
    if only is None:
        found += records.problems(catalogue.root)
        found += moved.problems(catalogue)
    if rendered:
        found += _shown_problems(catalogue.root, pages, found)
    found = [problem for problem in found if only is None or problem.path in only]
    return sorted(found, key=lambda problem: (problem.path, problem.line))


def problems_of(catalogue: Catalogue, paths: list[Path]) -> list[Problem]:
    """Everything wrong with these files, as files, too."""
    found = problems(catalogue, paths) + files.problems(catalogue.root, paths)
    return sorted(found, key=lambda problem: (problem.path, problem.line))


def confirm_parity(catalogue: Catalogue, recipe: Recipe) -> list[Problem]:
    """Confirm that the recipe's pages are in line; or what keeps them from it."""
    page, *twins = pages = recipe.written.values()
    found = problems_of(catalogue, [page.path for page in pages])
    faults = [problem for problem in found if problem.is_error]
    if not faults and not twins:
        faults = [page.problem(1, "twin-not-written", twin=page.twin_path)]
    return faults or confirm(page, *twins)


def _page_problems(catalogue: Catalogue, paths: set[Path]) -> Iterator[Problem]:
    """Each page by itself: folder, name, front matter; of ``paths``, all the rest."""
    known = {category.slug for category in catalogue.categories}
    for page in catalogue.pages:
        if page.category not in known:
            yield page.problem(1, "category-unknown", category=page.category)
        if not SLUG.fullmatch(page.slug):
            yield page.problem(1, "slug-malformed", name=page.path.name)
        try:
            has_twin = (catalogue.root / page.twin_path).exists()
            yield from _front_matter_problems(page, has_twin)
            if page.path in paths:
                yield from _block_problems(page)
        except PageError as error:
            yield error.problem
        if page.path in paths:
            yield from _heading_problems(page)
            yield from _unclear_problems(page, "block-not-plain")
    for page in catalogue.other_pages:
        if page.path in paths:
            for fence in page.document.fences:
                yield page.problem(fence.line, "block-outside-recipe")
            yield from _unclear_problems(page, "block-outside-recipe")


def _front_matter_problems(page: Page, has_twin: bool) -> Iterator[Problem]:
    meta, at = page.meta, page.meta_line
    english_only = ENGLISH_ONLY if page.lang == "en" or not has_twin else ()
    allowed = (*STRINGS, *OPTIONAL, *english_only, KEY)
    for key in meta.keys() - {*allowed}:
        facts = {"key": key, "known": ", ".join(allowed)}
        yield page.problem(at(key), "front-matter-unknown-key", **facts)
    for key in STRINGS:
        if not isinstance(meta.get(key), str) or not meta[key].strip():
            yield page.problem(at(key), "front-matter-key-missing", key=key)
    for key in ("aliases", *(key for key in english_only if key not in TEXTS)):
        value = meta.get(key, [])
        if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
            yield page.problem(at(key), "list-of-words", key=key)
    if not meta.get("aliases"):
        yield page.problem(at("aliases"), "aliases-missing")
    if page.lang == "en" and "answer" not in meta:
        yield page.problem(1, "answer-missing")
    description, end = str(meta.get("description", "")), SENTENCE_END[page.lang]
    several = NEXT_SENTENCE[page.lang] in description[:-1]
    if description and (several or not description.endswith(end)):
        yield page.problem(at("description"), "description-one-sentence", end=end)


def _block_problems(page: Page) -> Iterator[Problem]:
    if not page.blocks:
        yield page.problem(1, "block-missing")
    yield from _alt_problems(page)
    for quote in page.quotes:
        if not quote.text:
            yield page.problem(quote.line, "message-says-nothing")
    for fence in page.fences:
        if fence.language in PASSIVE and _imports(fence.code):
            yield page.problem(
                fence.line, "python-in-text-block", language=fence.language
            )
    for block in page.blocks:
        yield from _mark_problems(page, block)


def _mark_problems(page: Page, block: Block) -> Iterator[Problem]:
    """A mark keeps a block from running here, so it needs a cause."""
    if block.mark == "gpu" and not _needs_gpu(page, block):
        yield page.problem(block.line - 1, "gpu-mark-unearned")
    if block.mark == "skip":
        words = len(WORD.findall(block.reason))
        if block.language == PYTHON or words < limits.REASON_WORDS:
            yield page.problem(block.line - 1, "skip-mark-unearned")


def _needs_gpu(page: Page, block: Block) -> bool:
    """Whether a block names a GPU, or runs a snippet of its page that needs one."""
    if block.language == PYTHON:
        try:
            return names_gpu(ast.parse(block.code))
        except SyntaxError:
            return True  # another rule says so
    marked = (one.snippet.name for one in page.blocks if one.snippet and one.mark)
    named = any(name in block.code for name in marked)
    return named or bool(GPU_COMMAND.search(block.code))


def _alt_problems(page: Page) -> Iterator[Problem]:
    """Every picture is told in words, and nothing else is."""
    alt = page.meta.get(ALT, {})
    told = {
        name for name in alt if isinstance(alt, dict) and isinstance(alt[name], str)
    }
    if told != set(page.pictures) or len(alt) > len(told):
        names = ", ".join(page.pictures) or "none"
        yield page.problem(page.meta_line(ALT), "picture-without-alt", names=names)


def _imports(text: str) -> bool:
    """Whether a text is Python that imports something."""
    try:
        nodes = ast.walk(ast.parse(text))
    except SyntaxError:
        return False
    return any(isinstance(node, ast.Import | ast.ImportFrom) for node in nodes)


def _heading_problems(page: Page) -> Iterator[Problem]:
    """Headings without an id of their own; pitfalls beyond the fifth."""
    seen: set[str] = set()
    for heading in page.headings:
        if heading.level == 1:
            yield page.problem(heading.line, "heading-level-1")
        elif heading.id is None:
            yield page.problem(heading.line, "heading-without-id")
        elif heading.id in seen:
            yield page.problem(heading.line, "heading-id-twice", id=heading.id)
        seen.add(heading.id)
    pitfalls = page.section("pitfalls")
    if len(pitfalls) > limits.PITFALLS:
        line = pitfalls[limits.PITFALLS].line
        facts = {"count": len(pitfalls), "limit": limits.PITFALLS}
        yield page.problem(line, "pitfalls-too-many", **facts)


def _unclear_problems(page: Page, rule_of_blocks: str) -> Iterator[Problem]:
    """What the site may show differently from how the checks read it."""
    rules = {
        "block": rule_of_blocks,
        "heading": "shown-unread",
        "html": "html-in-page",
    }
    for line, kind, text in page.document.unclear:
        yield page.problem(line, rules[kind], text=text.strip().partition("\n")[0])


def _shown_problems(
    root: Path, pages: list[Page], found: list[Problem]
) -> Iterator[Problem]:
    """What the referee finds on pages whose own files are in order."""
    faulty = {problem.path for problem in found if problem.is_error}
    referee = Referee(root)
    for page in pages:
        if page.path in faulty:
            continue
        if faulty.isdisjoint(block.snippet for block in page.blocks):
            yield from referee.problems(page)


def _twin_problems(recipes: list[Recipe], broken: set[Path]) -> Iterator[Problem]:
    """Every page has its twin, and the two are in line."""
    for recipe in recipes:
        page, *twins = recipe.written.values()
        if not twins:
            yield page.problem(1, "twin-not-written", twin=page.twin_path)
        elif broken.isdisjoint((page.path, page.twin_path)):
            yield from twin_problems(page, *twins)


def _reference_problems(catalogue: Catalogue, broken: set[Path]) -> Iterator[Problem]:
    """``related`` and ``covers`` name what exists, and what does not."""
    slugs = [recipe.slug for recipe in catalogue.recipes]
    for page in catalogue.pages:
        if page.path in broken:
            continue
        at = partial(page.problem, page.meta_line("related"))
        for slug in page.meta.get("related", []):
            if slug not in slugs or slug == page.slug:
                yield at("related-unknown", slug=slug)
        for slug in page.meta.get("covers", []):
            if slug in slugs or not SLUG.fullmatch(slug):
                yield page.problem(
                    page.meta_line("covers"), "covers-has-page", slug=slug
                )
    for recipe in catalogue.recipes:
        if slugs.count(recipe.slug) > 1:
            (page, *_) = recipe.written.values()
            yield page.problem(1, "slug-twice", slug=recipe.slug)


def _listing_problems(catalogue: Catalogue) -> Iterator[Problem]:
    """Each recipe is in a group of its category, once."""
    folders = {recipe.slug: recipe.category for recipe in catalogue.recipes}
    listed = [(c.slug, slug) for c in catalogue.categories for slug in c.slugs]
    for recipe in catalogue.recipes:
        if (recipe.category, recipe.slug) not in listed:
            page, facts = recipe.page_for("en"), {"category": recipe.category}
            yield page.problem(1, "recipe-not-listed", slug=recipe.slug, **facts)
    lines = (catalogue.root / CATEGORIES).read_text("utf-8").splitlines()
    for category, slug in dict.fromkeys(listed):
        if folders.get(slug) != category or listed.count((category, slug)) > 1:
            numbers = [n for n, line in enumerate(lines, 1) if line.strip(" -") == slug]
            facts = {"slug": slug, "category": category}
            yield Problem(CATEGORIES, [1, *numbers][-1], "listed-wrongly", facts)


def _taken_names(
    catalogue: Catalogue, lang: str, broken: set[Path]
) -> Iterator[Problem]:
    """Pages that have another recipe's title, or many of its aliases."""
    pages = [recipe.written[lang] for recipe in catalogue.written_in(lang)]
    pages = [page for page in pages if page.path not in broken]
    titles = {page.meta["title"].casefold() for page in pages}
    leads: dict[str, dict[str, Page]] = defaultdict(dict)  # to which pages, by slug
    for page in pages:
        for name in _names(page):
            leads[name][page.slug] = page
    for page in pages:
        shared = [name for name in _names(page) if len(leads[name]) > 1]
        if len(shared) <= limits.SHARED_ALIASES:
            shared = [name for name in shared if name in titles]
        if shared:
            others = {one for name in shared for one in leads[name].values()} - {page}
            places = sorted(f"{one.path}:{one.meta_line('title')}" for one in others)
            facts = {"names": ", ".join(shared), "places": ", ".join(places)}
            at = page.meta_line("aliases")
            yield page.problem(at, "names-taken", **facts, limit=limits.SHARED_ALIASES)


def _names(page: Page) -> dict[str, None]:
    """The title and the aliases by which a search finds a page, each once."""
    names = (page.meta["title"], *page.meta["aliases"])
    return dict.fromkeys(name.casefold() for name in names)


def _snippet_problems(
    catalogue: Catalogue, only: Collection[Path] | None
) -> Iterator[Problem]:
    """Each snippet is shown somewhere, fits a screen, and claims something."""
    shown, programs = set(), set()
    for page in catalogue.pages:
        paths = {Path("snippets", m["path"]) for m in INCLUDE.finditer(page.body)}
        shown |= paths
        with suppress(PageError):
            if page.meta.get("shape") == PROGRAM:
                programs |= paths
    for file in sorted((catalogue.root / "snippets").rglob("*.py")):
        path = file.relative_to(catalogue.root)
        if only is not None and path not in only:
            continue
        if path not in shown:
            include = path.relative_to("snippets")
            yield Problem(path, 1, "snippet-unused", {"include": include})
        test = tests_of(path)
        if not (catalogue.root / test).exists():
            yield Problem(path, 1, "test-missing", {"test": test})
        else:
            yield from proofs.problems(catalogue.root, path)
        yield from snippets.problems(catalogue.root, path, path in programs)
    for file in sorted((catalogue.root / "snippets").rglob("*.svg")):
        yield from _weight_problems(file.relative_to(catalogue.root), file.read_bytes())


def _weight_problems(path: Path, picture: bytes) -> Iterator[Problem]:
    """Each page that shows a picture carries it."""
    limit = limits.RASTER if b"data:image" in picture else limits.PICTURE
    if (size := len(gzip.compress(picture))) > limit:
        facts = {"size": round(size / 1000), "limit": limit // 1000}
        yield Problem(path, 1, "picture-too-heavy", facts)


def _unproved_outputs(catalogue: Catalogue, recipes: list[Recipe]) -> Iterator[Problem]:
    """The output of a block for a GPU is shown only where a GPU ran that very text."""
    for recipe in recipes:
        with suppress(PageError):
            for block in recipe.snippets:
                output = block.snippet.with_suffix(".out")
                if block.mark != "gpu" or not (catalogue.root / output).exists():
                    continue
                gpus = (record for record in catalogue.records if record.kind == "gpu")
                runs = filter(None, (record.run_of(block) for record in gpus))
                if all(run["status"] != "passed" for run in runs):
                    yield Problem(output, 1, "output-of-no-gpu")
