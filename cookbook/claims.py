"""What a snippet claims, from its syntax tree."""

import ast
from collections.abc import Iterator


def claims(tree: ast.AST) -> Iterator[ast.stmt]:
    """The statements that claim something: an assert, or a call named assert_…"""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assert):
            yield node
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            called = node.value.func
            name = getattr(called, "attr", getattr(called, "id", ""))
            if name.startswith("assert_"):
                yield node
