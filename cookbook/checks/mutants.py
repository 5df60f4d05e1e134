"""The ways to break a snippet in one place, to see whether its tests notice.

Changed is whatever a reader may paste, so all but a demonstration under the main guard.
"""

import ast
import copy
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

from cookbook.claims import DEFINITIONS, claims

PAIR = re.compile(r"(\w+) to (\w+)")
TYPES = """
float32 to float64, float64 to float32, float16 to bfloat16, bfloat16 to float16,
int64 to int32, int32 to int64, uint8 to int16
"""
DTYPES = dict(PAIR.findall(TYPES))
OPERATORS = """
Add to Sub, Sub to Add, Mult to Add, Div to Mult, FloorDiv to Mult, Mod to Mult,
Pow to Mult, BitAnd to BitOr, BitOr to BitAnd, Lt to GtE, LtE to Gt, Gt to LtE,
GtE to Lt, Eq to NotEq, NotEq to Eq, Is to IsNot, IsNot to Is, In to NotIn,
NotIn to In, And to Or, Or to And, USub to UAdd
"""
SWAPS = {getattr(ast, a): getattr(ast, b) for a, b in PAIR.findall(OPERATORS)}
CONTEXTS = ("no_grad", "inference_mode")  # torch alone is none: that would only crash


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
            yield f"{type(operators[0]).__name__} swapped", partial(swap, field)
    if isinstance(node, ast.Constant) and type(node.value) in (bool, int, float):
        value = not node.value if isinstance(node.value, bool) else node.value + 1
        yield f"{node.value} changed", put("value", value)
    if isinstance(node, ast.If | ast.While | ast.IfExp):
        yield "condition negated", negate
    if isinstance(node, ast.Expr | ast.AugAssign | ast.Raise):
        yield "statement removed", remove
    if isinstance(node, ast.FunctionDef) and node.decorator_list:
        yield "decorator dropped", lambda node: node.decorator_list.pop(0)
    if isinstance(node, ast.With) and not node.items[0].optional_vars:
        yield "context dropped", drop_context
    if isinstance(node, ast.Attribute) and node.attr in DTYPES:
        yield f"{node.attr} changed", put("attr", DTYPES[node.attr])
    bare = isinstance(node, ast.Call) and not node.args and not node.keywords
    if bare and isinstance(node.func, ast.Attribute) and node.func.attr not in CONTEXTS:
        yield f"{node.func.attr} dropped", drop_method
    if isinstance(node, ast.Call) and len(node.args) > 1:
        yield "arguments swapped", lambda node: node.args.insert(0, node.args.pop(1))
    if isinstance(node, ast.Return) and node.value is not None:
        yield "returns None", put("value", ast.Constant(None))
    for index, keyword in enumerate(
        node.keywords if isinstance(node, ast.Call) else ()
    ):
        if keyword.arg:
            yield f"argument {keyword.arg} dropped", partial(drop_keyword, index)


def put(field: str, value: object) -> Callable:
    """Returns what gives a node's field another value."""
    return lambda node: setattr(node, field, value)


def swap(field: str, node: ast.AST) -> None:
    value = getattr(node, field)
    if isinstance(value, list):
        value[0] = SWAPS[type(value[0])]()
    else:
        setattr(node, field, SWAPS[type(value)]())


def drop_keyword(index: int, node: ast.Call) -> None:
    del node.keywords[index]


def drop_context(node: ast.With) -> None:
    node.__class__ = ast.If
    node.test, node.orelse = ast.Constant(True), []


def drop_method(node: ast.Call) -> None:
    owner = node.func.value
    node.__class__, node.__dict__ = owner.__class__, owner.__dict__


def negate(node: ast.If | ast.While | ast.IfExp) -> None:
    node.test = ast.UnaryOp(ast.Not(), node.test)


def remove(node: ast.stmt) -> None:
    node.__class__ = ast.Pass
    node.__dict__ = {"lineno": node.lineno, "col_offset": node.col_offset}
