"""The rules of a snippet that neither ruff has nor a run shows by itself.

snippets/ruff.toml has the form and the banned names. A run fails at a package that is
not installed, at a request to the network, at a deprecation warning, and where a
snippet ends before its last line, or never comes to what it claims.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

from cookbook.book.pages import PageError, read_text
from cookbook.book.syntax import DEFINITIONS, claims
from cookbook.rules import Problem, limits


def problems(root: Path, path: Path, is_program: bool = False) -> Iterator[Problem]:
    """What is wrong with a snippet, by itself; a program may be longer."""
    try:
        source = read_text(root, path)
    except PageError as error:
        yield error.problem
        return
    output = (root / path).with_suffix(".out")
    if output.exists() and not output.read_text("utf-8", "replace").strip(". \n"):
        yield Problem(path.with_suffix(".out"), 1, "output-says-nothing")
    try:
        tree = ast.parse(source)
    except SyntaxError as error:
        facts = {"reason": error.msg}
        yield Problem(path, error.lineno or 1, "snippet-does-not-parse", facts)
        return
    yield from _length_problems(path, source, "program" if is_program else shape(tree))
    if not any(claims(tree)) and not output.exists():
        yield Problem(path, 1, "claim-missing")
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "torch.load":
            given = {keyword.arg for keyword in node.keywords}  # None for **
            if not given & {"weights_only", None}:
                yield Problem(path, node.lineno, "load-without-weights-only")
        # Proof that is none: torch.testing.assert_close, or another such, assigned to.
        is_set = isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
        if is_set and node.attr.startswith("assert_"):
            facts = {"name": ast.unparse(node)}
            yield Problem(path, node.lineno, "assertion-replaced", facts)


def shape(tree: ast.Module) -> str:
    """A helper defines something to keep; a call is read from top to bottom."""
    return "helper" if any(isinstance(n, DEFINITIONS) for n in tree.body) else "call"


def _length_problems(path: Path, source: str, shape: str) -> Iterator[Problem]:
    count, limit = source.count("\n"), limits.SNIPPET[shape]
    if count > limit:
        facts = {"count": count, "limit": limit, "shape": shape}
        yield Problem(path, limit + 1, "snippet-too-long", facts)
