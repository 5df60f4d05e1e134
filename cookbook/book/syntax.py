"""What a snippet defines and claims, from its syntax tree."""

import ast
import re
from collections.abc import Iterator

FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef
DEFINITIONS = FUNCTIONS | ast.ClassDef
NO_CLAIM = re.compile(r"True|1|.+ is not None")


def claims(tree: ast.AST) -> Iterator[ast.stmt]:
    """The statements that claim something: an assert, or a call named assert_…

    ``assert True`` claims nothing, nor does ``assert x is not None``.
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.Assert) and not NO_CLAIM.fullmatch(
            ast.unparse(node.test)
        ):
            yield node
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            called = node.value.func
            name = getattr(called, "attr", getattr(called, "id", ""))
            if name.startswith("assert_"):
                yield node
