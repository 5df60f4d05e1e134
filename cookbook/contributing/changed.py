"""``python -m cookbook changed <commit>``: the recipes that a change touches.

A page or a test belongs to a recipe, a snippet to every recipe that shows it. What
all recipes rest on, the engine and the pinned packages, touches every one.
"""

import subprocess
from pathlib import Path

from cookbook.catalogue import Catalogue, Recipe

SHARED = ("cookbook/", "docs/overrides/", "tests/conftest.py", "tests/helpers.py")
SHARED += ("conftest.py", "pyproject.toml", "requirements.txt", "mkdocs")


class UnknownCommitError(Exception):
    """git does not know the commit to compare with."""


def files(root: Path, base: str) -> list[Path]:
    """What differs from where the branch left ``base``, committed or not.

    Raises:
        UnknownCommitError: there is no such commit, or no common one.
    """
    start = git(root, "merge-base", base, "HEAD").strip()
    listed = git(root, "diff", "--name-only", "--no-renames", "-z", start)
    listed += git(root, "ls-files", "--others", "--exclude-standard", "-z")
    return sorted({Path(name) for name in listed.split("\0") if name})


def git(root: Path, *arguments: str) -> str:
    command = ["git", *arguments]
    done = subprocess.run(
        command, cwd=root, capture_output=True, text=True, check=False
    )
    if done.returncode:
        reason = done.stderr.strip() or "no common commit"
        raise UnknownCommitError(f"git {arguments[0]}: {reason}")
    return done.stdout


def recipes(catalogue: Catalogue, changed: list[Path]) -> list[Recipe]:
    """The recipes that the changed files belong to."""
    if any(path.as_posix().startswith(SHARED) for path in changed):
        return catalogue.recipes
    return [recipe for recipe in catalogue.recipes if set(recipe.files) & set(changed)]


def to_run(catalogue: Catalogue, touched: list[Recipe]) -> list[Path]:
    """What pytest is to run: pages and tests; where all are touched, all pages."""
    if touched == catalogue.recipes:
        return [Path("docs")]
    wanted = [
        path
        for recipe in touched
        for path in recipe.files
        if path.parts[0] in ("docs", "tests")
    ]
    return [path for path in dict.fromkeys(wanted) if (catalogue.root / path).exists()]
