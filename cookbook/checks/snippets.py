"""The rules of a snippet that neither ruff has nor a run shows by itself.

snippets/ruff.toml has the form and the banned names. A run fails at a package that is
not installed, at a request to the network, at a deprecation warning, and where a
snippet ends before its last line, or never comes to what it claims.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from cookbook.book.pages import PageError, read_text
from cookbook.book.syntax import DEFINITIONS, claims
from cookbook.rules import Problem, limits

# A line that stands for anything, or nothing at all.
SAYS_NOTHING = re.compile(r"\A[.\s]*\Z|^ *\.\.\. *$", re.MULTILINE)


def problems(root: Path, path: Path, is_program: bool = False) -> Iterator[Problem]:
    """What is wrong with a snippet, by itself; a program may be longer."""
    try:
        source = read_text(root, path)
    except PageError as error:
        yield error.problem
        return
    output = (root / path).with_suffix(".out")
    if output.exists() and SAYS_NOTHING.search(output.read_text("utf-8", "replace")):
        yield Problem(path.with_suffix(".out"), 1, "output-says-nothing")
    try:
        tree = ast.parse(source)
    except SyntaxError as error:
        facts = {"reason": error.msg}
        yield Problem(path, error.lineno or 1, "snippet-does-not-parse", facts)
        return
    kind, count = "program" if is_program else shape(tree), source.count("\n")
    if count > (limit := limits.SNIPPET[kind]):
        facts = {"count": count, "limit": limit, "shape": kind}
        yield Problem(path, limit + 1, "snippet-too-long", facts)
    if not any(claims(tree)) and not (output.exists() and _prints_results(tree)):
        yield Problem(path, 1, "claim-missing")
    lines = source.splitlines()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "torch.load":
            given = {k.arg: getattr(k.value, "value", None) for k in node.keywords}
            code = "".join(lines[node.lineno - 1 : node.end_lineno])
            unsafe = given.get("weights_only", None in given) is False
            if unsafe and "#" not in code:  # None is the name of **arguments
                yield Problem(path, node.lineno, "load-without-weights-only")


def test_problems(root: Path, snippet: Path, test: Path) -> Iterator[Problem]:
    """A snippet has tests, which load it."""
    include = snippet.relative_to("snippets")
    if not (root / test).exists():
        yield Problem(snippet, 1, "test-missing", {"test": test})
    else:
        text = (root / test).read_text("utf-8", "replace")
        if snippet.name not in text or "def test" not in text:
            facts = {"snippet": snippet, "include": include}
            yield Problem(test, 1, "test-of-other-snippet", facts)


def _prints_results(tree: ast.Module) -> bool:
    """Whether what is printed is not only words that stand in the file."""
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    prints = [node for node in calls if getattr(node.func, "id", "") == "print"]
    values = [value for node in prints for value in node.args]
    return not prints or not all(isinstance(v, ast.Constant) for v in values)


def shape(tree: ast.Module) -> str:
    """A helper defines something to keep; a call is read from top to bottom."""
    return "helper" if any(isinstance(n, DEFINITIONS) for n in tree.body) else "call"
