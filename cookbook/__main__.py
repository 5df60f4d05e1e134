"""Command line: ``python -m cookbook --help`` lists what there is."""

import argparse
import difflib
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from cookbook.book.catalogue import Catalogue, Recipe
from cookbook.book.pages import LANGUAGES, PageError
from cookbook.checks import files, lint, structure
from cookbook.recipes import changed, check_one, start_one
from cookbook.rules import report
from cookbook.site import find, wheel


def main() -> int:
    arguments = parser().parse_args()
    try:
        return arguments.run(Path.cwd(), arguments)
    except PageError as error:  # in words for whoever typed the command
        sys.exit(str(error))


def build_wheel(root: Path, arguments: argparse.Namespace) -> int:
    wheel.build(Catalogue(root), arguments.site, arguments.out)
    return 0


def parser() -> argparse.ArgumentParser:
    """The commands, each with the function that runs it, and their arguments."""
    parser = argparse.ArgumentParser(prog="python -m cookbook", description=__doc__)
    commands = parser.add_subparsers(required=True)

    def command(name: str, run: Callable, text: str) -> Callable:
        own = commands.add_parser(name, help=text)
        own.set_defaults(run=run)
        return own.add_argument

    text = "structure, lint, format, workflows; with a slug, that recipe, run too"
    add = command("check", check, text)
    add("slugs", nargs="*", metavar="slug", help="a recipe; default all")
    text = "first put in order what a machine can: form, outputs"
    add("--fix", action="store_true", help=text)
    add = command("new", new, "start a recipe from the templates")
    add("recipe", help="<category>/<slug>")
    text = "confirm that a recipe's pages say the same in both languages"
    add = command("parity", confirm_parity, text)
    add("slugs", nargs="+", metavar="slug", help="a recipe")
    add = command("changed", print_touched, "what to run for what changed since")
    add("commit", help="such as HEAD^1")
    add = command("find", print_found, "search the recipes, as the site does")
    add("query", help="a task, an API, or an error message, quoted")
    add("--lang", choices=LANGUAGES, help="of the recipes shown")
    add("--show", action="store_true", help="print the code of the best recipe")
    add = command(
        "wheel", build_wheel, "write the wheel, with the site if one is given"
    )
    add("out", type=Path, help="the folder to write it to")
    add("--site", type=Path, help="the built site")
    return parser


def check(root: Path, arguments: argparse.Namespace) -> int:
    """Check some recipes or everything; 0 when all is in order."""
    catalogue = Catalogue(root)
    recipes = named(catalogue, arguments.slugs)
    if not recipes:
        if arguments.fix:
            sys.exit(
                "--fix: name recipes; or: ruff format, pytest --record-output docs"
            )
        return check_all(catalogue)
    passes = check_one.check(catalogue, recipes, arguments.fix)
    print("all in order" if passes else "\nnot in order; see above")
    return 0 if passes else 1


def check_all(catalogue: Catalogue) -> int:
    """Print every problem of the repository; 0 when there is none."""
    print("structure of pages and snippets", flush=True)
    found = structure.problems(catalogue)
    found += files.problems(catalogue.root, files.files(catalogue.root))
    errors = report(found)
    failed = [name for name, command in lint.COMMANDS if not lint.passes(name, command)]
    if errors or failed:
        print(f"\n{errors} problems above; failed: {', '.join(failed) or 'none'}")
        return 1
    print("all in order")
    return 0


def new(root: Path, arguments: argparse.Namespace) -> int:
    """Write a recipe's files; print what to edit and what to run next."""
    paths = start_one.create(Catalogue(root), arguments.recipe)
    print(start_one.report(root, paths))
    return 0


def confirm_parity(root: Path, arguments: argparse.Namespace) -> int:
    """Confirm the recipes that are in order; print what is wrong with the others."""
    catalogue = Catalogue(root)
    recipes = named(catalogue, arguments.slugs)
    faults = structure.confirm_parity(catalogue, recipes)
    for problem in faults:
        print(problem)
    wrong = {problem.path for problem in faults}
    for recipe in recipes:
        paths = [page.path for page in recipe.written.values()]
        if wrong.isdisjoint(paths):
            print(f"confirmed: {' and '.join(map(str, paths))} say the same")
    return 1 if faults else 0


def named(catalogue: Catalogue, slugs: list[str]) -> list[Recipe]:
    """The recipes of these slugs; ends the program at an unknown one."""
    lost = {page.slug: page for page in reversed(catalogue.pages)}  # in no category
    for slug in (slug for slug in slugs if slug not in catalogue.by_slug):
        if page := lost.get(slug):
            raise page.error(1, "category-unknown", category=page.category)
        similar = difflib.get_close_matches(slug, catalogue.by_slug)
        names = ", ".join(similar) or "a page's file name, without .md"
        sys.exit(f"{slug}: no such recipe; write {names}")
    return [catalogue.by_slug[slug] for slug in slugs]


def print_touched(root: Path, arguments: argparse.Namespace) -> int:
    """Print the pages and tests that a change touches, for pytest."""
    command = ["git", "diff", "--name-only", "--no-renames", arguments.commit]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    print(*changed.touched(Catalogue(root), done.stdout.splitlines()), sep="\n")
    return 0


def print_found(root: Path, arguments: argparse.Namespace) -> int:
    """Print the recipes found, or the code of the best."""
    return find.find(root, arguments.query, arguments.lang, arguments.show)


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # who reads has seen enough: … | head
    sys.exit(main())
