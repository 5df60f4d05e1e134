"""What tests must have to prove anything: they run, and load their snippet."""

import ast
from collections.abc import Iterator
from pathlib import Path

from cookbook.book.pages import PageError, read_text, tests_of
from cookbook.book.syntax import FUNCTIONS
from cookbook.rules import Problem

SKIP_MARK, SKIP_IF_MARK, SKIP = "pytest.mark.skip", "pytest.mark.skipif", "pytest.skip"


def problems(root: Path, snippet: Path) -> Iterator[Problem]:
    """What makes a snippet's test file prove nothing."""
    test = tests_of(snippet)
    try:
        tree = ast.parse(read_text(root, test))
    except (SyntaxError, PageError):
        return  # ruff and the other checks tell
    facts = {"snippet": snippet, "include": snippet.relative_to("snippets")}
    nodes = list(ast.walk(tree))
    tests = [node for node in nodes if isinstance(node, FUNCTIONS)]
    tests = [node for node in tests if node.name.startswith("test")]
    if not tests or not _names(nodes, snippet.name):
        yield Problem(test, 1, "test-of-other-snippet", facts)
    for node in _always_skipped(nodes, [tree, *tests]):
        yield Problem(test, node.lineno, "test-always-skipped")


def _names(nodes: list[ast.AST], file: str) -> bool:
    """Whether a literal is, or ends in, the name of the file."""
    values = (getattr(node, "value", None) for node in nodes)
    return any(isinstance(v, str) and f"/{v}".endswith(f"/{file}") for v in values)


def _always_skipped(nodes: list[ast.AST], scopes: list) -> Iterator[ast.AST]:
    for node in nodes:
        if getattr(node, "attr", "") == "skip" and ast.unparse(node) == SKIP_MARK:
            yield node
        if _calls(node, SKIP_IF_MARK) and isinstance(node.args[0], ast.Constant):
            yield node
    for statement in (statement for scope in scopes for statement in scope.body):
        if _calls(getattr(statement, "value", None), SKIP):
            yield statement


def _calls(node: ast.AST | None, function: str) -> bool:
    name = getattr(getattr(node, "func", None), "attr", "")  # to unparse all is slow
    return function.endswith(f".{name}") and ast.unparse(node.func) == function
