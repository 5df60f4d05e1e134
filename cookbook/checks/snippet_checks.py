"""The rules of a snippet that neither ruff has nor a run shows by itself.

snippets/ruff.toml has the form and the banned names. A run fails at a request to the
network, at a deprecation warning, and where a snippet ends before its last line.
"""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from cookbook.apis import Names
from cookbook.claims import claims
from cookbook.pages import PageError, read_text
from cookbook.rules import Problem

MAX_LINES = {"call": 25, "helper": 45, "program": 60}
REQUIREMENTS = ("requirements.in", "requirements-paddle.txt")
# Packages that are imported under another name than they are installed.
IMPORTED_AS = {"pillow": "PIL", "pyyaml": "yaml", "scikit-learn": "sklearn"}
IMPORTED_AS |= {"paddlepaddle": "paddle"}
BROUGHT_ALONG = {"PIL"}  # by torchvision, which cannot do without
FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef
DEFINITIONS = FUNCTIONS | ast.ClassDef


def problems(root: Path, path: Path, is_program: bool = False) -> Iterator[Problem]:
    """What is wrong with a snippet, by itself; a program may be longer."""
    if is_module(root, path.stem):
        yield Problem(path, 1, "module-name-shadowed", {"name": path.stem})
    try:
        source = read_text(root, path)
    except PageError as error:
        yield error.problem
        return
    yield from _text_problems(path, source)
    output = (root / path).with_suffix(".out")
    if output.exists() and not output.read_text("utf-8", "replace").strip(". \n"):
        yield Problem(path.with_suffix(".out"), 1, "output-says-nothing")
    try:
        tree = ast.parse(source)
    except SyntaxError as error:
        yield Problem(
            path, error.lineno or 1, "snippet-does-not-parse", {"reason": error.msg}
        )
        return
    yield from _length_problems(path, source, "program" if is_program else shape(tree))
    if not any(claims(tree)) and not output.exists():
        yield Problem(path, 1, "claim-missing")
    yield from _import_problems(path, tree, _declared(root))
    yield from _name_problems(path, tree, source)


def _text_problems(path: Path, source: str) -> Iterator[Problem]:
    """Text that the page would take for its own Markdown."""
    for number, line in enumerate(source.split("\n"), start=1):
        if "```" in line:
            yield Problem(path, number, "fence-in-snippet")
        elif "-8<-" in line:
            yield Problem(path, number, "include-in-snippet")


def shape(tree: ast.Module) -> str:
    """A helper defines something to keep; a call is read from top to bottom."""
    return "helper" if any(isinstance(n, DEFINITIONS) for n in tree.body) else "call"


def _length_problems(path: Path, source: str, shape: str) -> Iterator[Problem]:
    count, limit = source.count("\n"), MAX_LINES[shape]
    if count > limit:
        facts = {"count": count, "limit": limit, "shape": shape}
        yield Problem(path, limit + 1, "snippet-too-long", facts)


def _declared(root: Path) -> frozenset[str]:
    """The names under which the declared packages are imported."""
    text = "\n".join((root / name).read_text("utf-8") for name in REQUIREMENTS)
    packages = re.findall(r"^[A-Za-z][\w-]*", text, re.MULTILINE)
    return frozenset(IMPORTED_AS.get(name, name) for name in packages) | BROUGHT_ALONG


def is_module(root: Path, name: str) -> bool:
    """Whether a file of this name would hide a module from those beside it."""
    return name in sys.stdlib_module_names or name in _declared(root)


def _import_problems(
    path: Path, tree: ast.Module, declared: frozenset[str]
) -> Iterator[Problem]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            modules = [node.module or "."]
        else:
            continue
        for module in modules:
            package = module.partition(".")[0]
            if package not in declared and package not in sys.stdlib_module_names:
                yield Problem(
                    path, node.lineno, "package-undeclared", {"package": package or "."}
                )


def _name_problems(path: Path, tree: ast.Module, source: str) -> Iterator[Problem]:
    """Unsafe loading, and a deprecated attribute that no warning names."""
    names = Names(tree)
    lines = ["", *source.split("\n")]
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and names.full_name(node.func) == "torch.load":
            commented = "#" in "".join(lines[node.lineno - 1 : node.end_lineno + 1])
            if not _is_safe(node, commented):
                yield Problem(path, node.lineno, "load-without-weights-only")
        if isinstance(node, ast.Compare) and _is_wrong_guard(node):
            yield Problem(path, node.lineno, "main-guard-wrong")
        if _replaces_assertion(node):
            facts = {"name": ast.unparse(node)}
            yield Problem(path, node.lineno, "assertion-replaced", facts)
        if _is_data_of_tensor(node, names):
            facts = {"name": ".data", "replacement": "torch.Tensor.detach"}
            yield Problem(path, node.lineno, "api-deprecated", facts)


def _is_safe(call: ast.Call, commented: bool) -> bool:
    """Whether weights_only is said, and a comment beside it where it is False."""
    given = {keyword.arg: keyword.value for keyword in call.keywords}  # None for **
    if "weights_only" not in given:
        return None in given
    return _is_true(given["weights_only"]) or commented


def _is_true(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is True


def _is_wrong_guard(test: ast.Compare) -> bool:
    """Whether ``__name__`` is compared with anything but ``"__main__"``."""
    sides = {ast.unparse(side) for side in (test.left, *test.comparators)}
    return "__name__" in sides and sides != {"__name__", "'__main__'"}


def _replaces_assertion(node: ast.AST) -> bool:
    """Whether torch.testing.assert_close, or another such name, is assigned to."""
    is_attribute = isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
    return is_attribute and node.attr.startswith("assert_")


def _is_data_of_tensor(node: ast.AST, names: Names) -> bool:
    if not isinstance(node, ast.Attribute) or node.attr != "data":
        return False
    owner = getattr(node.value, "attr", None)
    return owner in ("weight", "bias") or names.is_tensor(node.value)
