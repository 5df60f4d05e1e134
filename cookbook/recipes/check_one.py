"""Check recipes one by one: structure, code style, blocks, tests.

Or first put in order what a machine can: the form of code, and recorded outputs.
"""

import importlib.util
import os
import subprocess
import sys
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from cookbook.book.catalogue import Catalogue, Recipe
from cookbook.book.records import git
from cookbook.checks import lint, names, structure
from cookbook.rules import Problem, report

GPU_RUNS = "make test-gpu runs it, for a pull request a maintainer"
SEVERAL = 2  # spaces: words that nobody uses by accident
PICTURES = (".png", ".svg")
PYTEST = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
PYTEST += ["--durations=5", "--durations-min=10"]  # what is slow is named


def check(catalogue: Catalogue, recipes: list[Recipe], fix: bool) -> bool:
    """Print each step and what it finds; whether nothing is wrong."""
    os.environ["CUDA_VISIBLE_DEVICES"] = ""  # what is recorded is a CPU's
    if fix:
        mend(catalogue.root, recipes)
        catalogue = Catalogue(catalogue.root)
        recipes = [catalogue.by_slug[recipe.slug] for recipe in recipes]
    results = [in_order(catalogue, recipe) for recipe in recipes]
    # What cannot be read cannot be run; the rest may tell more than the structure did.
    read = [r for r in recipes if all(page.readable for page in r.written.values())]
    return (not read or runs(catalogue.root, read)) and all(results)


def files(recipe: Recipe) -> list[Path]:
    """Its own files that exist: pages, snippets, outputs, tests, and pictures."""
    links = (page.links for page in recipe.written.values())
    linked = (recipe.page_for("en").path.parent / link for link in chain(*links))
    own = [path for path in linked if path.suffix in PICTURES]
    return [p for p in [*recipe.files, *own] if (recipe.root / p).is_file()]


def contents(recipes: list[Recipe]) -> dict[Path, bytes]:
    """What each file of the recipes holds."""
    return {path: (r.root / path).read_bytes() for r in recipes for path in files(r)}


def mend(root: Path, recipes: list[Recipe]) -> None:
    """Put the code in form and record its outputs; print the paths of what changed."""
    before = contents(recipes)
    sources = [path for path in before if path.suffix == ".py"]
    pages = [path for path in before if path.suffix == ".md"]
    commands = [command for _, command in lint.style(sources, fix=True)]
    commands.append([*PYTEST, "--record-output", *pages])
    for command in commands:
        subprocess.run(command, cwd=root, capture_output=True, check=False)
    after = contents(recipes)
    for path in sorted(path for path in after if after[path] != before.get(path)):
        print(f"changed {path}")


def in_order(catalogue: Catalogue, recipe: Recipe) -> bool:
    """Print what is wrong with a recipe's files; whether nothing is."""
    paths = files(recipe)
    print(f"{recipe.slug}: structure of its files", flush=True)
    found = structure.problems_of(catalogue, paths)
    if importlib.util.find_spec("torch"):
        found += chain(*map(names.problems, recipe.written.values()))
    if not any(problem.is_error for problem in found):
        found += taken_places(catalogue, recipe)
    errors = report(found)
    sources = [path for path in paths if path.suffix == ".py"]
    styled = [lint.passes(*command) for command in lint.style(sources)]
    for block in recipe.blocks if recipe.page_for("en").readable else ():
        if block.mark == "gpu":
            print(f"  {block.path}: not run, it needs a GPU; {GPU_RUNS}")
    return not errors and all(styled)


def taken_places(catalogue: Catalogue, recipe: Recipe) -> Iterator[Problem]:
    """New aliases that hold all of another recipe's, whose place they may take."""
    for lang, page in recipe.written.items():
        committed = git(recipe.root, "show", f"HEAD:{page.path}")
        at = page.meta_line("aliases")
        new = [alias for alias in page.meta["aliases"] if alias not in committed]
        for other in catalogue.written_in(lang) if new else ():
            owned = other.written[lang].meta.get("aliases", [])
            owned = [words for words in owned if words.count(" ") >= SEVERAL]
            for alias in new if other.slug != recipe.slug else ():
                if any(words.casefold() in alias.casefold() for words in owned):
                    facts = {"alias": alias, "slug": other.slug}
                    yield page.problem(at, "place-taken", **facts)


def runs(root: Path, recipes: list[Recipe]) -> bool:
    """Run the blocks of the recipes, and their tests; whether all pass."""
    if importlib.util.find_spec("torch") is None:
        print("its blocks and tests need torch, not installed; make setup installs it")
        return False
    paths = [path for recipe in recipes for path in files(recipe)]
    run = [path for path in paths if path.suffix == ".md" or path.parts[0] == "tests"]
    print("its blocks and tests", flush=True)
    done = subprocess.run(
        [*PYTEST, "--trials", *run],
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
    )
    print(done.stdout + done.stderr)
    return done.returncode == 0
