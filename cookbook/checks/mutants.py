"""The ways to break a snippet in one place, to see whether its tests notice.

Changed is whatever a reader may paste, so all but a demonstration under the main guard.
"""

import ast
import copy
import random
from collections import Counter
from collections.abc import Callable, Iterator
from typing import NamedTuple

from cookbook.claims import claims

DEFINITIONS = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
DTYPES = {
    "float32": "float64",
    "float64": "float32",
    "float16": "bfloat16",
    "bfloat16": "float16",
    "int64": "int32",
    "int32": "int64",
    "uint8": "int16",
}
CONTEXTS = ("no_grad", "inference_mode")  # torch alone is none: that would only crash
SWAPS = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.Lt: ast.GtE,
    ast.LtE: ast.Gt,
    ast.Gt: ast.LtE,
    ast.GtE: ast.Lt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.USub: ast.UAdd,
}


class Mutant(NamedTuple):
    """A snippet with one change: its line, what was done, the whole source."""

    line: int
    what: str
    source: str


def mutants(source: str) -> Iterator[Mutant]:
    """Every single change of a source."""
    tree = ast.parse(source)
    for count, node in enumerate(body_nodes(tree)):
        for what, change in changes(node):
            mutated = copy.deepcopy(tree)
            change(list(body_nodes(mutated))[count])
            text = ast.unparse(ast.fix_missing_locations(mutated))
            if text != ast.unparse(tree):
                yield Mutant(node.lineno, what, text)


def mixed(source: str) -> list[Mutant]:
    """The mutants, a first one of each kind before a second; always the same order."""
    found = list(mutants(source))
    random.Random(source).shuffle(found)
    seen, ranked = Counter(), []
    for mutant in found:
        kind = mutant.what.split()[-1]  # such as dropped, swapped, changed
        ranked.append((seen[kind], mutant))
        seen[kind] += 1
    return [mutant for _, mutant in sorted(ranked, key=lambda pair: pair[0])]


def body_nodes(tree: ast.Module) -> Iterator[ast.AST]:
    """The nodes of a reader's concern: no docstrings, types, messages, imports."""
    for statement in tree.body[ast.get_docstring(tree) is not None :]:
        if isinstance(statement, DEFINITIONS):
            yield from defined(statement)
        elif ast.unparse(statement).startswith("print("):
            continue  # what it prints is recorded, and compared when the block runs
        elif not isinstance(statement, ast.If | ast.Import | ast.ImportFrom):
            yield from inner(statement)  # the If is the main guard
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef) and function not in tree.body:
            yield from defined(function)


def defined(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function: its decorators, defaults, and body."""
    if not isinstance(node, ast.FunctionDef):
        return  # the functions of a class are found by themselves
    yield node
    for default in (*node.args.defaults, *filter(None, node.args.kw_defaults)):
        yield from inner(default)
    for statement in node.body[ast.get_docstring(node) is not None :]:
        yield from inner(statement)


def inner(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, ast.Raise):
        yield node
    if isinstance(node, ast.Expr) and node in claims(node):
        return  # the snippet's own proof; who pastes does not need it
    if isinstance(node, ast.Raise | ast.Assert | ast.JoinedStr | DEFINITIONS):
        return
    if isinstance(node, ast.expr | ast.stmt):
        yield node
    for name, value in ast.iter_fields(node):
        if name not in ("annotation", "returns"):
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    yield from inner(child)


def changes(node: ast.AST) -> Iterator[tuple[str, Callable]]:
    """The ways to break one node: (name, function that does it in place)."""
    for field in ("op", "ops"):
        operators = getattr(node, field, None)
        operators = operators if isinstance(operators, list) else [operators]
        if type(operators[0]) in SWAPS:
            yield f"{type(operators[0]).__name__} swapped", swap(field)
    if isinstance(node, ast.Constant) and type(node.value) in (bool, int, float):
        yield f"{node.value} changed", replace_constant
    if isinstance(node, ast.If | ast.While | ast.IfExp):
        yield "condition negated", negate
    if isinstance(node, ast.Expr | ast.AugAssign | ast.Raise):
        yield "statement removed", remove
    if isinstance(node, ast.FunctionDef) and node.decorator_list:
        yield "decorator dropped", drop_decorator
    if isinstance(node, ast.With) and not node.items[0].optional_vars:
        yield "context dropped", drop_context
    if isinstance(node, ast.Attribute) and node.attr in DTYPES:
        yield f"{node.attr} changed", change_dtype
    bare = isinstance(node, ast.Call) and not node.args and not node.keywords
    if bare and isinstance(node.func, ast.Attribute) and node.func.attr not in CONTEXTS:
        yield f"{node.func.attr} dropped", drop_method
    if isinstance(node, ast.Call) and len(node.args) > 1:
        yield "arguments swapped", swap_arguments
    if isinstance(node, ast.Return) and node.value is not None:
        yield "returns None", return_none
    if isinstance(node, ast.Call) and node.keywords:
        for index, keyword in enumerate(node.keywords):
            if keyword.arg:
                yield f"argument {keyword.arg} dropped", drop_keyword(index)


def swap(field: str):
    def change(node):
        value = getattr(node, field)
        if isinstance(value, list):
            value[0] = SWAPS[type(value[0])]()
        else:
            setattr(node, field, SWAPS[type(value)]())

    return change


def drop_keyword(index: int):
    def change(node):
        del node.keywords[index]

    return change


def replace_constant(node):
    node.value = not node.value if isinstance(node.value, bool) else node.value + 1


def drop_decorator(node):
    del node.decorator_list[0]


def drop_context(node):
    node.__class__ = ast.If
    node.test, node.orelse = ast.Constant(True), []


def change_dtype(node):
    node.attr = DTYPES[node.attr]


def drop_method(node):
    owner = node.func.value
    node.__class__, node.__dict__ = owner.__class__, owner.__dict__


def swap_arguments(node):
    node.args[:2] = node.args[1::-1]


def negate(node):
    node.test = ast.UnaryOp(ast.Not(), node.test)


def remove(node):
    node.__class__ = ast.Pass
    node.__dict__ = {"lineno": node.lineno, "col_offset": node.col_offset}


def return_none(node):
    node.value = ast.Constant(None)
