"""Command line: ``python -m cookbook --help`` lists what there is."""

import argparse
import difflib
import os
import sys
from pathlib import Path

from cookbook import records, shape
from cookbook.catalogue import Catalogue, Recipe
from cookbook.checks import file_checks, fixes, lint, recipe_check, structure
from cookbook.contributing import changed, move, scaffold
from cookbook.pages import LANGUAGES, PageError
from cookbook.rules import report
from cookbook.site import find, status

# What a command refuses, in words for whoever typed it.
REFUSALS = (
    PageError,
    scaffold.ScaffoldError,
    changed.UnknownCommitError,
    records.MergeError,
)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m cookbook", description=__doc__)
    commands = parser.add_subparsers(required=True)
    for add in (
        add_check,
        add_new,
        add_move,
        add_parity,
        add_find,
        add_changed,
        add_shape,
        add_failures,
        add_merge,
    ):
        add(commands)
    arguments = parser.parse_args()
    try:
        code = arguments.run(Path.cwd(), arguments)
        sys.stdout.flush()
    except BrokenPipeError:  # whoever reads has seen enough: … | head
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except REFUSALS as error:
        print(error, file=sys.stderr)
        return 1
    return code


def add_check(commands) -> None:
    text = "structure, lint, format, workflows; with a slug, that recipe, run too"
    parser = commands.add_parser("check", help=text)
    parser.add_argument(
        "slugs", nargs="*", metavar="slug", help="a recipe; default all"
    )
    text = "first put in order what a machine can: form, heading ids, outputs"
    parser.add_argument("--fix", action="store_true", help=text)
    parser.set_defaults(run=check)


def check(root: Path, arguments: argparse.Namespace) -> int:
    """Check some recipes or everything; 0 when all is in order."""
    catalogue = Catalogue(root)
    recipes = named(catalogue, arguments.slugs)
    if arguments.fix:
        for path in fixes.fix(recipes or catalogue.recipes):
            print(f"changed {path}")
        catalogue = Catalogue(root)
        recipes = [catalogue.by_slug[recipe.slug] for recipe in recipes]
    if not recipes:
        return check_all(catalogue)
    results = [recipe_check.passes(catalogue, recipe) for recipe in recipes]
    print("all in order" if all(results) else "\nnot in order; see above")
    return 0 if all(results) else 1


def check_all(catalogue: Catalogue) -> int:
    """Print every problem of the repository; 0 when there is none."""
    print("structure of pages and snippets, credentials", flush=True)
    found = structure.problems(catalogue)
    found += file_checks.problems(catalogue.root, file_checks.files(catalogue.root))
    errors = report(found)
    failed = [name for name, command in lint.COMMANDS if not lint.passes(name, command)]
    if errors or failed:
        print(f"\n{errors} problems above; failed: {', '.join(failed) or 'none'}")
        return 1
    print("all in order")
    return 0


def add_new(commands) -> None:
    parser = commands.add_parser("new", help="start a recipe from the templates")
    parser.add_argument("recipe", help="<category>/<slug>")
    parser.add_argument("--title-en", help="the task, in English")
    parser.add_argument("--title-zh", help="the task, in Chinese")
    parser.add_argument("--gpu", action="store_true", help="its block needs a GPU")
    parser.set_defaults(run=new)


def new(root: Path, arguments: argparse.Namespace) -> int:
    """Write a recipe's files; print what to edit and what to run next."""
    titles = {"en": arguments.title_en, "zh": arguments.title_zh}
    paths = scaffold.create(Catalogue(root), arguments.recipe, titles, arguments.gpu)
    print(scaffold.report(root, paths))
    return 0


def add_move(commands) -> None:
    text = "move a recipe to another category or slug, with all that speaks of it"
    parser = commands.add_parser("move", help=text)
    parser.add_argument("recipe", help="<category>/<slug>, as it is")
    parser.add_argument("target", help="<category>/<slug>, as it is to be")
    parser.set_defaults(run=move_recipe)


def move_recipe(root: Path, arguments: argparse.Namespace) -> int:
    """Move a recipe's files; print where they are now and what to run next."""
    planned = move.plan(Catalogue(root), arguments.recipe, arguments.target)
    move.carry_out(planned)
    print(move.report(planned))
    return 0


def add_changed(commands) -> None:
    parser = commands.add_parser("changed", help="the recipes that a change touches")
    parser.add_argument("base", help="a commit to compare with, such as origin/main")
    parser.add_argument(
        "--paths", action="store_true", help="print what pytest is to run instead"
    )
    parser.set_defaults(run=print_changed)


def print_changed(root: Path, arguments: argparse.Namespace) -> int:
    """Print the slugs, or the paths for pytest, one per line."""
    catalogue = Catalogue(root)
    touched = changed.recipes(catalogue, changed.files(root, arguments.base))
    paths = changed.to_run(catalogue, touched)
    for line in paths if arguments.paths else [recipe.slug for recipe in touched]:
        print(line)
    return 0


def add_parity(commands) -> None:
    text = "confirm that a recipe's pages say the same in both languages"
    parser = commands.add_parser("parity", help=text)
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("slugs", nargs="*", metavar="slug", default=[])
    which.add_argument("--all", action="store_true", help="confirm every recipe")
    parser.set_defaults(run=confirm_parity)


def confirm_parity(root: Path, arguments: argparse.Namespace) -> int:
    """Confirm the recipes that are in order; print what is wrong with the others."""
    catalogue = Catalogue(root)
    if arguments.all:
        recipes = [recipe for recipe in catalogue.recipes if not recipe.missing]
    else:
        recipes = named(catalogue, arguments.slugs)
    found = structure.confirm_parity(catalogue, recipes)
    for problem in found:
        print(problem)
    faulty = {problem.path for problem in found}
    for recipe in recipes:
        if faulty.isdisjoint(page.path for page in recipe.written.values()):
            print(confirmation(recipe))
    return 1 if found else 0


def confirmation(recipe: Recipe) -> str:
    """What was confirmed; a lost paragraph shows in the numbers of paragraphs."""
    pages = []
    for page in recipe.written.values():
        count = page.body.strip().count("\n\n") + 1
        pages.append(f"{page.path} ({count} paragraphs)")
    return f"confirmed: {' and '.join(pages)} say the same"


def named(catalogue: Catalogue, slugs: list[str]) -> list[Recipe]:
    """The recipes of these slugs; ends the program at an unknown one."""
    for slug in slugs:
        if slug not in catalogue.by_slug:
            for page in catalogue.pages:
                if page.slug == slug:
                    sys.exit(
                        str(page.problem(1, "category-unknown", category=page.category))
                    )
            similar = difflib.get_close_matches(slug, catalogue.by_slug)
            names = ", ".join(similar) or "a page's file name, without .md"
            sys.exit(f"{slug}: no such recipe; write {names}")
    return [catalogue.by_slug[slug] for slug in slugs]


def add_find(commands) -> None:
    parser = commands.add_parser("find", help="search the recipes, as the site does")
    parser.add_argument("query", help="a task, an API, or an error message, quoted")
    parser.add_argument("--lang", choices=LANGUAGES, help="of the recipes shown")
    text = "print the code of the best recipe"
    parser.add_argument("--show", action="store_true", help=text)
    parser.set_defaults(run=print_found)


def print_found(root: Path, arguments: argparse.Namespace) -> int:
    """Print the recipes found, or the code of the best."""
    return find.find(root, arguments.query, arguments.lang, arguments.show)


def add_shape(commands) -> None:
    text = "how long the snippets are, and what of them is answer"
    parser = commands.add_parser("shape", help=text)
    parser.set_defaults(run=print_shape)


def print_shape(root: Path, arguments: argparse.Namespace) -> int:
    """Print the measures of the recipes' form; 1 where one misses its target."""
    catalogue = Catalogue(root)
    print(shape.report(catalogue))
    return 1 if list(shape.misses(catalogue)) else 0


def add_failures(commands) -> None:
    text = "what fails where, from the records"
    parser = commands.add_parser("failures", help=text)
    parser.set_defaults(run=failures)


def failures(root: Path, arguments: argparse.Namespace) -> int:
    """Print, as a list in Markdown, the recipes that the records say fail."""
    for recipe, where in status.failures(Catalogue(root)):
        print(f"- `{recipe.slug}`: {where}")
    return 0


def add_merge(commands) -> None:
    text = "join the records of a run that was split"
    parser = commands.add_parser("merge", help=text)
    parser.add_argument("parts", nargs="+", type=Path, help="records of its parts")
    parser.set_defaults(run=merge)


def merge(root: Path, arguments: argparse.Namespace) -> int:
    """Write the joined records to verified/, and print where they are."""
    parts = [root / part for part in arguments.parts]
    blocks = [block for page in Catalogue(root).pages for block in page.blocks]
    files = records.merge(root, parts, blocks)
    for file in files:
        print(file.relative_to(root))
    return 0


if __name__ == "__main__":
    sys.exit(main())
