"""Every message that a page quotes is raised by a test, or listed with the reason.

What the tests raise is read from their syntax trees, so nothing has to run.
"""

import ast
import tomllib
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

from cookbook.book.catalogue import Recipe
from cookbook.book.pages import tests_of
from cookbook.book.syntax import FUNCTIONS
from cookbook.rules import Problem

UNRAISED = Path("tests/unraised.toml")
EXPECTING = ("raises_as_documented", "assert_documented")  # both in tests/helpers.py


def problems(root: Path, recipes: list[Recipe]) -> list[Problem]:
    """Messages that nothing accounts for, and entries of the list that are wrong.

    None, until all pages can be read.
    """
    pages = chain(*(recipe.written.values() for recipe in recipes))
    if not all(page.readable for page in pages):
        return []
    errors = {recipe.address: recipe.errors for recipe in recipes}
    raised = set()
    for page, start in expected(root, errors):
        messages = begin_with(errors.get(page, []), start)
        raised.update((page, message) for message in messages if len(messages) == 1)
    listed, found = set(), []
    try:
        entries = _entries(root)
    except ValueError as error:
        return [Problem(UNRAISED, 1, "unraised-malformed", {"reason": error})]
    for line, entry in entries:
        messages = begin_with(errors.get(entry["page"], []), entry["start"])
        if len(messages) != 1 or (entry["page"], messages[0]) in raised:
            found.append(Problem(UNRAISED, line, "unraised-unknown", entry))
        listed.update((entry["page"], message) for message in messages)
    for recipe in recipes:
        found += _not_raised(recipe, raised | listed)
    return found


def _not_raised(recipe: Recipe, settled: set) -> Iterator[Problem]:
    page, snippets = recipe.page_for("en"), recipe.snippets
    test = tests_of(snippets[0].snippet) if snippets else "tests/"
    for line, text in page.quotes:
        if text and (recipe.address, text) not in settled:
            facts = {"text": text.splitlines()[0], "test": test, "list": UNRAISED}
            facts["page"] = recipe.address
            yield page.problem(line, "message-not-raised", **facts)


def begin_with(messages: list[str], start: str) -> list[str]:
    """The messages that begin so; only the one that is just that, where there is."""
    found = [message for message in messages if message.startswith(start)]
    return [start] if start in found else found


def _entries(root: Path) -> list[tuple[int, dict[str, str]]]:
    """The entries of the list and their lines; an error where one is not complete."""
    file = root / UNRAISED
    text = file.read_text("utf-8") if file.exists() else ""
    found = []
    for key, reason in tomllib.loads(text).items():
        page, _, start = key.partition(": ")
        if not (start and reason):
            raise ValueError(key)
        line = text.count("\n", 0, text.find(key)) + 1
        found.append((line, {"page": page, "start": start}))
    return found


def expected(root: Path, pages: Iterable[str]) -> Iterator[tuple[str, str]]:
    """The page and the start of each message that a test expects of these pages."""
    for file in sorted((root / "tests").rglob("test_*.py")):
        text = file.read_text("utf-8", errors="replace")
        if any(name in text for name in EXPECTING) and any(p in text for p in pages):
            try:
                yield from _expected(ast.parse(text))
            except SyntaxError:
                continue  # pytest tells


def _expected(tree: ast.Module) -> Iterator[tuple[str, str]]:
    constants = {}
    for node in tree.body:
        if isinstance(node, ast.Assign):
            targets = getattr(node.targets[0], "elts", node.targets)
            values = getattr(node.value, "elts", [node.value])
            constants.update(zip(map(ast.unparse, targets), values, strict=False))
    for function in filter(lambda node: isinstance(node, FUNCTIONS), tree.body):
        for call in ast.walk(function):
            if _is_expectation(call) and len(call.args) > 1:
                page, start = call.args[:2]
                page = constants.get(ast.unparse(page), page)
                for text in _texts(start, function):
                    yield getattr(page, "value", ""), text


def _is_expectation(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and getattr(node.func, "id", "") in EXPECTING


def _texts(start: ast.expr, function: ast.AST) -> list[str]:
    """A literal; for a parameter or a variable, the literals of the function.

    Of those only what has several words, so that none begins a message by accident.
    """
    if isinstance(start, ast.Constant):
        return [start.value]
    values = (getattr(node, "value", None) for node in ast.walk(function))
    return [value for value in values if isinstance(value, str) and " " in value]
