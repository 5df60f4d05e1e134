"""All that is wrong with the pages and snippets: the build and the tests ask here."""

import gzip
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import permutations
from pathlib import Path

from cookbook.book import gains, moved, records
from cookbook.book.catalogue import CATEGORIES, RELATIONS, Catalogue, Recipe
from cookbook.book.pages import INCLUDE, LANGUAGES, Page, PageError, tests_of
from cookbook.checks import (
    answers,
    files,
    messages,
    page,
    prose,
    shown,
    snippets,
    twins,
)
from cookbook.rules import Problem, limits


def problems(catalogue: Catalogue, rendered: bool = True) -> list[Problem]:
    """Everything wrong with the pages and snippets, by file and line.

    If ``rendered``, what the site shows of a page is compared, too.
    """
    everywhere = [*catalogue.pages, *catalogue.other_pages]
    found = _problems(catalogue, everywhere, catalogue.recipes)
    found += _record_problems(catalogue.root)
    found += _moved_problems(catalogue)
    if rendered:
        found += _shown_problems(everywhere, found)
    return in_order(found)


def problems_of(catalogue: Catalogue, paths: list[Path]) -> list[Problem]:
    """Everything wrong with these files, as files, too."""
    pages = [page for page in catalogue.pages if page.path in paths]
    recipes = [
        recipe
        for recipe in catalogue.recipes
        if any(page.path in paths for page in recipe.written.values())
    ]
    found = _problems(catalogue, pages, recipes)
    found = [problem for problem in found if problem.path in paths]
    found += _shown_problems(pages, found)
    return in_order(found + files.problems(catalogue.root, paths))


def _problems(
    catalogue: Catalogue, pages: list[Page], recipes: list[Recipe]
) -> list[Problem]:
    """What is wrong with these, and with what is compared with all others."""
    found = list(_page_problems(catalogue))
    broken = {problem.path for problem in found}
    for recipe in recipes:
        if broken.isdisjoint(page.path for page in recipe.written.values()):
            found += answers.problems(recipe)
            found += twins.problems(recipe)
    found += _reference_problems(catalogue, broken)
    for lang in LANGUAGES:
        found += _taken_names(catalogue, lang, broken)
    found += _snippet_problems(catalogue, pages)
    found += prose.problems(catalogue.root, pages)
    found += messages.problems(catalogue.root, recipes)
    found += _listing_problems(catalogue)
    return found


def in_order(found: Iterable[Problem]) -> list[Problem]:
    return sorted(found, key=lambda problem: (problem.path, problem.line))


def confirm_parity(catalogue: Catalogue, recipes: list[Recipe]) -> list[Problem]:
    """Confirm that each recipe's pages are in line; or what keeps them from it."""
    paths = [page.path for recipe in recipes for page in recipe.written.values()]
    found = [one for one in problems_of(catalogue, paths) if one.is_error]
    faults = []
    for recipe in recipes:
        page, *others = pages = recipe.written.values()
        own = [one for one in found if one.path in {page.path for page in pages}]
        if not own and not others:
            own = [page.problem(1, "twin-not-written", twin=page.twin_path)]
        faults += own or twins.confirm(page, *others)
    return faults


def _page_problems(catalogue: Catalogue) -> Iterator[Problem]:
    """Each page by itself."""
    known = {category.slug for category in catalogue.categories}
    for one in catalogue.pages:
        if one.category not in known:
            yield one.problem(1, "category-unknown", category=one.category)
        yield from page.problems(one)
    for one in catalogue.other_pages:
        for fence in one.document.fences:
            yield one.problem(fence.line, "block-outside-recipe")
        yield from page.unclear(one, "block-outside-recipe")


def _shown_problems(pages: list[Page], found: list[Problem]) -> Iterator[Problem]:
    """What is shown differently, on pages whose own files are in order."""
    faulty = {problem.path for problem in found if problem.is_error}
    for one in pages:
        if one.path not in faulty and faulty.isdisjoint(b.snippet for b in one.blocks):
            yield from shown.problems(one)


def _reference_problems(catalogue: Catalogue, broken: set[Path]) -> Iterator[Problem]:
    """``related`` and ``covers`` name what exists, and what does not."""
    slugs = [recipe.slug for recipe in catalogue.recipes]
    for one in catalogue.pages:
        meta = {} if one.path in broken else one.meta
        for entry in meta.get("related", []):
            kind, _, slug = entry.rpartition(" ")
            if kind not in RELATIONS or slug not in slugs or slug == one.slug:
                at = one.meta_line("related")
                yield one.problem(at, "related-unknown", slug=entry)
        for slug in meta.get("covers", []):
            if slug in slugs or not page.SLUG.fullmatch(slug):
                yield one.problem(one.meta_line("covers"), "covers-has-page", slug=slug)
    for recipe in catalogue.recipes:
        if slugs.count(recipe.slug) > 1:
            yield recipe.page_for("en").problem(1, "slug-twice", slug=recipe.slug)


def _listing_problems(catalogue: Catalogue) -> Iterator[Problem]:
    """Each recipe is in a group of its category, once."""
    folders = {recipe.slug: recipe.category for recipe in catalogue.recipes}
    listed = [(c.slug, slug) for c in catalogue.categories for slug in c.slugs]
    for recipe in catalogue.recipes:
        if (recipe.category, recipe.slug) not in listed:
            facts = {"slug": recipe.slug, "category": recipe.category}
            yield recipe.page_for("en").problem(1, "recipe-not-listed", **facts)
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
    names = {
        page: {name.casefold() for name in (page.meta["title"], *page.meta["aliases"])}
        for page in pages
        if page.path not in broken
    }
    for one, two in permutations(names, 2):
        shared = names[one] & names[two] if one.slug != two.slug else set()
        if not shared:
            continue
        titles = {page.meta["title"].casefold() for page in (one, two)}
        if titles & shared or len(shared) > limits.SHARED_ALIASES:
            facts = {"names": ", ".join(sorted(shared)), "limit": limits.SHARED_ALIASES}
            facts["place"] = f"{two.path}:{two.meta_line('title')}"
            yield one.problem(one.meta_line("aliases"), "names-taken", **facts)


def _shown_by(pages: list[Page]) -> dict[Path, bool]:
    """The snippets that pages show, each with whether it is a program."""
    found: dict[Path, bool] = {}
    for one in pages:
        program = False
        with suppress(PageError):
            program = one.meta.get("shape") == "program"
        for match in INCLUDE.finditer(one.body):
            path = Path("snippets", match["path"])
            found[path] = found.get(path, False) or program
    return found


def _snippet_problems(catalogue: Catalogue, pages: list[Page]) -> Iterator[Problem]:
    """Each snippet is shown, short, and claims something; each picture is light."""
    root, programs = catalogue.root, _shown_by(pages)
    for one in pages:
        if one.lang == "en" and one.readable:
            yield from _unproved_outputs(catalogue, one)
    for file in sorted((root / "snippets").rglob("*.py")):
        path = file.relative_to(root)
        if path in programs:
            yield from snippets.problems(root, path, programs[path])
            yield from snippets.test_problems(root, path, tests_of(path))
        else:
            include = path.relative_to("snippets")
            yield Problem(path, 1, "snippet-unused", {"include": include})
    for file in sorted((root / "snippets").rglob("*.svg")):  # each page carries its own
        picture = file.read_bytes()
        limit = limits.RASTER if b"data:image" in picture else limits.PICTURE
        if (size := len(gzip.compress(picture))) > limit:
            facts = {"size": round(size / 1000), "limit": limit // 1000}
            yield Problem(file.relative_to(root), 1, "picture-too-heavy", facts)


def _unproved_outputs(catalogue: Catalogue, page: Page) -> Iterator[Problem]:
    """The output of a block for a GPU is shown only where a GPU ran that very text."""
    for block in page.blocks:
        if block.mark == "gpu" and block.snippet:
            output = block.snippet.with_suffix(".out")
            gpus = [record for record in catalogue.records if record.kind == "gpu"]
            runs = [record.run_of(block) for record in gpus]
            passed = any(run and run["status"] == "passed" for run in runs)
            if (catalogue.root / output).exists() and not passed:
                yield Problem(output, 1, "output-of-no-gpu")


def _record_problems(root: Path) -> Iterator[Problem]:
    """Records of runs, and of gains, that cannot be believed."""
    found = [(file, records.fault(file)) for file in records.files(root)]
    found += [(file, gains.fault(file)) for file in gains.files(root)]
    for file, why in found:
        if why:
            path = file.relative_to(root)
            yield Problem(path, 1, "record-malformed", {"why": why})


def _moved_problems(catalogue: Catalogue) -> Iterator[Problem]:
    """Old addresses that lead nowhere, or are a recipe's."""
    pages = {recipe.address for recipe in catalogue.recipes}
    known = {*pages, *(recipe.category for recipe in catalogue.recipes)}
    for line, old, new in moved.listed(catalogue.root):
        if not moved.ADDRESS.fullmatch(old) or old in pages or new not in known:
            facts = {"old": old, "new": new}
            yield Problem(moved.FILE, line, "moved-wrongly", facts)
