"""What tests must have to prove anything: they run, and load their snippet.

Whether they notice a change of it, the mutants show.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

from cookbook.claims import FUNCTIONS
from cookbook.pages import PageError, read_text, tests_of
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
    tests = [node for node in ast.walk(tree) if isinstance(node, FUNCTIONS)]
    tests = [node for node in tests if node.name.startswith("test")]
    if not tests or not _names(tree, snippet.name):
        yield Problem(test, 1, "test-of-other-snippet", facts)
    for node in _always_skipped(tree, tests):
        yield Problem(test, node.lineno, "test-always-skipped")


def _names(tree: ast.Module, file: str) -> bool:
    """Whether a literal is, or ends in, the name of the file."""
    values = (getattr(node, "value", None) for node in ast.walk(tree))
    return any(isinstance(v, str) and f"/{v}".endswith(f"/{file}") for v in values)


def _always_skipped(tree: ast.Module, tests: list) -> Iterator[ast.AST]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and ast.unparse(node) == SKIP_MARK:
            yield node
        if _calls(node, SKIP_IF_MARK) and isinstance(node.args[0], ast.Constant):
            yield node
    for body in (tree.body, *(test.body for test in tests)):
        for statement in body:
            if _calls(getattr(statement, "value", None), SKIP):
                yield statement


def _calls(node: ast.AST | None, function: str) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func) == function
