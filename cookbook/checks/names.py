"""Names and arguments of torch in a page's inline code: that the library has them.

This needs torch, so it is asked for where a recipe is run, not where a site is built.
"""

import ast
import inspect
import re
from collections.abc import Iterator
from pkgutil import resolve_name

from cookbook.book.pages import Page
from cookbook.rules import Problem

CODE = re.compile(r"`((?:torch|nn|F)\.[\w.]+)(\([^`]*\))?`")
LONG = {"nn": "torch.nn", "F": "torch.nn.functional"}
# Added by packages of their makers.
OTHERS = ("torch.npu", "torch.mlu", "torch.musa", "torch.gcu")


def problems(page: Page) -> Iterator[Problem]:
    """Names that the installed torch does not have, and arguments that they lack."""
    for number, line in page.document.prose:
        for name, call in CODE.findall(line):
            first, _, rest = name.rstrip(".").partition(".")
            full = f"{LONG.get(first, first)}.{rest}"
            try:
                found = None if full.startswith(OTHERS) else resolve_name(full)
            except (AttributeError, ModuleNotFoundError):
                yield page.problem(number, "name-unknown", name=name)
                continue
            for keyword in unknown_keywords(found, name, call):
                facts = {"name": name, "keyword": keyword}
                yield page.problem(number, "keyword-unknown", **facts)


def unknown_keywords(function: object, name: str, arguments: str) -> list[str]:
    """The keywords of a call that neither signature nor documentation knows."""
    try:
        nodes = ast.walk(ast.parse(f"{name}{arguments}"))
    except SyntaxError:
        return []
    calls = [node for node in nodes if isinstance(node, ast.Call)]
    calls = [node for node in calls if ast.unparse(node.func) == name]
    given = [k.arg for call in calls for k in call.keywords if k.arg]
    known = inspect.getdoc(function) or ""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # it is written in C
        parameters = ()
    if any(one.kind == one.VAR_KEYWORD for one in parameters):
        return []
    known += " ".join(one.name for one in parameters)
    return [name for name in given if not re.search(rf"\b{name}\b", known)]
