"""Break the snippets on purpose, and see whether their tests notice.

    .venv/bin/python -m tests.mutation                      every snippet
    .venv/bin/python -m tests.mutation training/mixup.py    these

Whatever a reader may paste, so all but a demonstration under the main guard, is
changed in one place at a time; the snippet's own tests then run in a process forked
from one that has torch and pytest loaded, and its output is compared. A mutant that
neither notices survives, and is listed with its line. Not a part of ``make test``:
the whole run takes a good while.
"""

import ast
import copy
import io
import os
import runpy
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest
import torch  # noqa: F401, loaded once for all forks

from cookbook.claims import claims
from cookbook.running.output import matches

ROOT = Path(__file__).parents[1]
COPIED = ("snippets", "tests", "docs", "cookbook", "pyproject.toml")
TIMEOUT = 120  # seconds for one snippet's tests
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


def mutants(source: str) -> Iterator[tuple[int, str, str]]:
    """Yield (line, what changed, mutated source) for each single change."""
    tree = ast.parse(source)
    for count, node in enumerate(body_nodes(tree)):
        for what, change in changes(node):
            mutated = copy.deepcopy(tree)
            change(list(body_nodes(mutated))[count])
            text = ast.unparse(ast.fix_missing_locations(mutated))
            if text != ast.unparse(tree):
                yield node.lineno, what, text


def body_nodes(tree: ast.Module) -> Iterator[ast.AST]:
    """The nodes of a reader's concern: no docstrings, types, messages, imports."""
    for statement in tree.body[ast.get_docstring(tree) is not None :]:
        if isinstance(statement, DEFINITIONS):
            yield from defined(statement)
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


def changes(node: ast.AST) -> Iterator[tuple[str, object]]:
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
    if bare and isinstance(node.func, ast.Attribute):
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


def tests_of(snippet: Path) -> Path:
    """The behaviour tests of a snippet, both relative to the root."""
    return Path("tests", snippet.parent, f"test_{snippet.stem}.py")


def noticed(folder: Path, snippet: Path) -> bool:
    """Whether its tests or its output tell the broken snippet in the copy."""
    pid = os.fork()
    if pid == 0:
        os.setsid()
        os._exit(run_tests(folder, snippet))
    signal.signal(signal.SIGALRM, lambda *_: os.killpg(pid, signal.SIGKILL))
    signal.alarm(TIMEOUT)
    _, status = os.waitpid(pid, 0)
    signal.alarm(0)
    return status != 0


def run_tests(folder: Path, snippet: Path) -> int:
    os.chdir(folder)
    sys.path[0] = str(folder)
    for name in [name for name in sys.modules if name.partition(".")[0] == "tests"]:
        del sys.modules[name]
    test = tests_of(snippet)
    quiet = ["-q", "-x", "-p", "no:cacheprovider", "-p", "no:codeblocks"]
    options = ["-o", "addopts=--import-mode=importlib"]
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        code = int(pytest.main([*quiet, *options, str(test)]))
    return code or printed_otherwise(snippet)


def printed_otherwise(snippet: Path) -> int:
    """Run the snippet as a script; 1 where it fails, or prints what is not recorded."""
    recorded, printed = snippet.with_suffix(".out"), io.StringIO()
    try:
        with redirect_stdout(printed), redirect_stderr(io.StringIO()):
            runpy.run_path(str(snippet), run_name="__main__")
    except BaseException:  # whatever it is, it was noticed
        return 1
    text = recorded.read_text("utf-8") if recorded.exists() else printed.getvalue()
    return int(not matches(text, printed.getvalue()))


def main(names: list[str]) -> int:
    """Mutate the named snippets; 1 when more than a tenth survives."""
    snippets = [Path("snippets", name) for name in names] or [
        path.relative_to(ROOT) for path in sorted((ROOT / "snippets").rglob("*.py"))
    ]
    folder = Path(tempfile.mkdtemp(prefix="mutation-"))
    for name in COPIED:
        source = ROOT / name
        copy_one = shutil.copytree if source.is_dir() else shutil.copy
        copy_one(source, folder / name)
    total = survived = 0
    for snippet in snippets:
        source, test = (ROOT / snippet).read_text("utf-8"), tests_of(snippet)
        if not (ROOT / test).exists() or noticed(folder, snippet):
            print(f"{snippet}: {test} is missing, or fails as it is", flush=True)
            return 2
        here, before = 0, survived
        for line, what, mutated in mutants(source):
            (folder / snippet).write_text(mutated, "utf-8")
            here += 1
            if not noticed(folder, snippet):
                survived += 1
                print(f"{snippet}:{line}: survived: {what}", flush=True)
        (folder / snippet).write_text(source, "utf-8")
        total += here
        print(f"{snippet}: {here - survived + before} of {here} noticed", flush=True)
    shutil.rmtree(folder)
    share = (total - survived) / total
    print(f"{total - survived} of {total} mutants noticed, {share:.1%}")
    return int(share < 0.9)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
