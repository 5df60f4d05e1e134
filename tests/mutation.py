"""Break the snippets on purpose, and see whether their tests notice.

    .venv/bin/python -m tests.mutation                      every snippet
    .venv/bin/python -m tests.mutation training/mixup.py    these

Every function body is changed in one place at a time; the snippet's own tests
then run in a process forked from one that has torch and pytest loaded. A mutant
that no test notices survives, and is listed with its line. Not a part of
``make test``: the whole run takes a good while.
"""

import ast
import copy
import io
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest
import torch  # noqa: F401, loaded once for all forks

ROOT = Path(__file__).parents[1]
COPIED = ("snippets", "tests", "docs", "cookbook", "pyproject.toml")
TIMEOUT = 120  # seconds for one snippet's tests
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
    """The nodes inside functions, but for docstrings, types and messages."""
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            has_docstring = ast.get_docstring(function) is not None
            for statement in function.body[has_docstring:]:
                yield from inner(statement)


def inner(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, ast.Raise | ast.JoinedStr | ast.FunctionDef | ast.ClassDef):
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
    if isinstance(node, ast.Expr | ast.AugAssign):
        yield "statement removed", remove
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


def noticed(folder: Path, test: Path) -> bool:
    """Whether the tests fail, or never end, in a copy with a broken snippet."""
    pid = os.fork()
    if pid == 0:
        os.setsid()
        os._exit(run_tests(folder, test))
    signal.signal(signal.SIGALRM, lambda *_: os.killpg(pid, signal.SIGKILL))
    signal.alarm(TIMEOUT)
    _, status = os.waitpid(pid, 0)
    signal.alarm(0)
    return status != 0


def run_tests(folder: Path, test: Path) -> int:
    os.chdir(folder)
    sys.path[0] = str(folder)
    for name in [name for name in sys.modules if name.partition(".")[0] == "tests"]:
        del sys.modules[name]
    quiet = ["-q", "-x", "-p", "no:cacheprovider", "-p", "no:codeblocks"]
    options = ["-o", "addopts=--import-mode=importlib"]
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        return int(pytest.main([*quiet, *options, str(test)]))


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
        if not (ROOT / test).exists() or noticed(folder, test):
            print(f"{snippet}: {test} is missing, or fails as it is", flush=True)
            return 2
        here, before = 0, survived
        for line, what, mutated in mutants(source):
            (folder / snippet).write_text(mutated, "utf-8")
            here += 1
            if not noticed(folder, test):
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
