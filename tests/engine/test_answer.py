"""The answer: what is pasted, which imports go with it, and whose the names are."""

import ast
from pathlib import Path

import pytest

from cookbook.book import answer
from cookbook.book.catalogue import Catalogue
from cookbook.book.pages import Block
from cookbook.checks.answers import bound_twice
from cookbook.site import render
from tests.helpers import ROOT


def of(lines: str, source: str) -> answer.Answer:
    return answer.of(lines, [Block("python", source, 1, "a.py", Path("a.py"))])


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("y = [x for x in xs if x > low]", ["xs", "low"]),
        ("y = [a for x in xs for a in x]", ["xs"]),
        ("x = x + 1", ["x"]),
        ("x += 1", ["x"]),
        ("x = 0\nx += 1", []),
        ("for x in loader:\n    y = model(x)", ["loader", "model"]),
        (
            "def f(x, n=size):\n    y = x * scale\n    return y + g()",
            ["size", "scale", "g"],
        ),
        ("def f():\n    return later\n\n\nlater = 1", []),
        ("def f(x: Tensor) -> Tensor:\n    return x", ["Tensor"]),
        ("def f():\n    global n\n    n += m\n    return n", ["n", "m"]),
        (
            "class A(Base):\n    size = width\n    def f(self): return self.size",
            ["Base", "width"],
        ),
        ("with open(path) as file, lock:\n    file.read()", ["path", "lock"]),
        ("try:\n    f()\nexcept Wrong as error:\n    print(error)", ["f", "Wrong"]),
        ("while (line := read()):\n    print(line)", ["read"]),
        ("any((hit := x) for x in xs)\nprint(hit)", ["xs"]),
        ("match point:\n    case [a, *rest]:\n        print(a, rest)", ["point"]),
        ("f = lambda x, y=z: x + y + w", ["z", "w"]),
        ("del model", ["model"]),
        ("d[key] = value", ["d", "key", "value"]),
        ("import a.b\nfrom c import d as e\na, e", []),
    ],
)
def test_what_is_read_and_not_bound_before(code, names):
    assert sorted(answer.reads(ast.parse(code), code)) == sorted(names)


def test_names_are_in_the_order_of_the_lines():
    code = "a = f(b)\nc = b + d"
    assert answer.reads(ast.parse(code), code) == ["f", "b", "d"]


def test_it_is_whole_statements_with_their_decorators_and_comments():
    source = "@wrap\ndef f(x):\n    return [\n        x,\n    ]\n\n\n"
    source += "if 1:\n    y = f(2)\n\n    # why\n    z = y\n"
    given = of("def f(x):\ny = f(2)\nz = y", source)
    function, _, rest = given.code.partition("\n\n\n")
    assert function == source.partition("\n\n\n")[0]
    assert rest == "y = f(2)\n\n# why\nz = y"
    assert not given.is_torn
    assert [(part.first, part.last) for part in given.parts] == [
        (1, 5),
        (9, 9),
        (12, 12),
    ]


def test_of_equal_lines_those_are_meant_that_make_one_piece():
    source = "def f():\n    x = 1\n    return x\n\n\nx = 1\ny = 2\n"
    given = of("x = 1\ny = 2", source)
    assert [part.first for part in given.parts] == [6, 7]


BESIDE = "import torch.distributed.nn  # before the group is made"
IMPORTS = f"""import os, sys
import torch
import torch.distributed as dist
{BESIDE}
import torch.utils.data
from torch.nn import (
    Linear,
    functional as F,
)

def f():
    from math import pi  # noqa: F401
    return pi

x = 1
"""


@pytest.mark.parametrize(
    ("line", "imports", "yours"),
    [
        ("x = F.relu(y)", "from torch.nn import functional as F", ["y"]),
        (
            "x = torch.ones(1)",
            f"import torch\n{BESIDE}",
            [],
        ),
        (
            "dist.barrier()",
            f"import torch.distributed as dist\n{BESIDE}",
            [],
        ),
        (
            "x = torch.utils.data.Dataset",
            f"import torch\n{BESIDE}\nimport torch.utils.data",
            [],
        ),
        ("print(sys, pi)", "import sys\nfrom math import pi", []),
        ("x = os", "import os", []),
        ("x = 1 + y", "", ["y"]),
    ],
)
def test_imports_come_along_where_they_are_needed(line, imports, yours):
    given = of(line, f"{IMPORTS}{line}\n")
    assert (given.imports, list(given.yours)) == (imports, yours)
    assert given.text == (f"{imports}\n\n{line}" if imports else line)


def test_kinds_come_from_comments_and_a_page_overrules_them(cookbook):
    source = '''"""Fit."""

a, b = f()  # (N, C), (N,)
c = 1  # how many
d = 2  # yours: a DataLoader


def e():
    """Do nothing."""


z = [a, b, c, d, e()]
assert z
'''
    kinds = {"a": "(N, C)", "b": "(N,)", "c": "", "d": "a DataLoader"}
    given = of("z = [a, b, c, d, e()]", source)
    assert given.yours == kinds | {"e": answer.BELOW}
    given = of("z = [a, b, c, d, e()]  # yours", source.replace("()]", "()]  # yours"))
    assert given.yours == kinds | {"e": ""}
    source = "m = 1\nlayer = m  # yours: a layer of m\nz = layer, m\nassert z\n"
    assert of("z = layer, m", source).yours == {"layer": "a layer of m", "m": ""}
    source = "x, y = 1, 2  # yours: (N,), one for each row\nz = x + y\nassert z\n"
    cookbook.recipe("other", source)
    cookbook.replace("docs/en/training/other.md", "aliases", "yours: {x: two}\naliases")
    recipe = Catalogue(cookbook.root).by_slug["other"]
    assert recipe.yours("en")["x"] == "two"
    assert recipe.yours("zh")["x"] == "(N,)"  # the snippet's words are English


@pytest.mark.parametrize("kind", ["", "  # (N, C) to (N, D)"])
def test_a_model_is_a_module_where_nothing_more_is_said(cookbook, kind):
    made = f'"""Say."""\nif True:\n    model = abs{kind}\n'
    cookbook.recipe("other", f"{made}y = model(1)\nassert y\n")
    said = render.yours(Catalogue(cookbook.root).by_slug["other"], "en")
    assert ("`model`, an `nn.Module`" in said) == (not kind)


def test_a_run_must_reach_all_of_it_but_what_it_raises():
    source = 'def f(x):\n    """Say."""\n    if x:\n        raise ValueError\n'
    source += "    return x\n\n\nassert f(0) == 0\n"
    given = of("def f(x):", source)
    assert answer.to_reach(given, given.block) == ((1, 5), (3, 4), (5, 5), (8, 8))


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("x = 1\nx = 2", ["x"]),
        ("x = 1\nx = x + 1", []),
        ("x = 1\nprint(x)\nx = 2", []),
        ("x = 1\nif y:\n    x = 2", []),
        ("for x in y:\n    a = 1\n    a = 2", ["a"]),
        ("a, _ = f()\nb, _ = f()", []),
        ("x = 1\nx += 1", []),
    ],
)
def test_two_solutions_are_seen(code, names):
    assert list(bound_twice(answer.Answer(code=code))) == names


def test_each_answer_compiles_with_the_imports_of_its_file():
    """No name that a file imports is left to the reader."""
    for recipe in Catalogue(ROOT).recipes:
        given = recipe.answer
        if given.block and given.block.snippet and answer.parsed(given.code):
            own = set(answer.reads(ast.parse(given.text), given.text))
            assert own == set(given.yours), recipe.slug
