"""The answer: the piece of one block that the reader came for, with what it needs.

``answer:`` in the front matter of the English page names it. Each line there is the
first line of a statement or definition of a snippet, and stands for all of it; in a
shell block it stands for itself. The rest is read off the syntax tree: the imports
that the piece needs, and the names that it reads and does not define: the reader's.
"""

import ast
import builtins
import dis
import re
import symtable
import textwrap
from collections.abc import Container, Iterator
from dataclasses import dataclass, field
from itertools import dropwhile, pairwise
from types import CodeType
from typing import NamedTuple

from cookbook.book.pages import PYTHON, Block
from cookbook.book.syntax import DEFINITIONS, claims

IMPORTS = ast.Import | ast.ImportFrom
BODIES = ("body", "orelse", "finalbody")
GIVEN = {*dir(builtins), "__name__", "__file__"}
UNTRACED = ast.Raise | ast.Global | ast.Nonlocal
COMMENT = re.compile(r"  # (?:yours(?::\s*(?P<kind>.+))?|(?P<shape>\(.+))$")
SHAPES = re.compile(r"\([^()]*\)")
IMPORT = re.compile(r"\s*(?:import|from) ")
BELOW = "below"  # the kind of what the file itself defines


class Part(NamedTuple):
    """A statement of a snippet, or a line of a shell block."""

    first: int  # its lines, decorators included
    last: int
    head: str  # the line by which an answer names it
    place: int  # where in its body, imports aside
    body: str = ""  # the name of the field that it stands in
    owner: ast.AST | None = None  # and the node that has the field
    node: ast.stmt | None = None

    @property
    def is_definition(self) -> bool:
        """Whether it defines something for the whole file."""
        return isinstance(self.owner, ast.Module) and isinstance(self.node, DEFINITIONS)

    def is_next(self, other: "Part") -> bool:
        """Whether it follows the other at once, in the same body."""
        here, there = (self.owner, self.body), (other.owner, other.body)
        return here == there and self.place == other.place + 1


@dataclass(frozen=True)
class Answer:
    """What to paste, and which names it takes for granted."""

    block: Block | None = None
    parts: tuple[Part, ...] = ()
    lost: str = ""  # the first line given that begins no part
    code: str = ""
    imports: str = ""
    yours: dict[str, str] = field(default_factory=dict)  # and of what kind they are

    @property
    def text(self) -> str:
        """What Copy yields."""
        return f"{self.imports}\n\n{self.code}" if self.imports else self.code

    @property
    def language(self) -> str:
        return self.block.language if self.block else PYTHON

    @property
    def is_torn(self) -> bool:
        """Whether it is more than one piece, definitions of the file above it aside."""
        rest = list(dropwhile(lambda part: part.is_definition, self.parts))
        apart = any(not two.is_next(one) for one, two in pairwise(rest))
        return apart or any(isinstance(part.owner, ast.ClassDef) for part in rest)


def of(given: object, blocks: list[Block]) -> Answer:
    """The answer whose lines a front matter gives, from the block that has most."""
    lines = given.splitlines() if isinstance(given, str) else ()
    heads = [line.strip() for line in lines if line.strip()]
    found = [(block, _chosen(heads, _parts(block))) for block in blocks]
    block, parts = max(found, key=lambda one: len(one[1]), default=(None, []))
    lost = next(iter(heads[len(parts) :]), "")
    if not parts:
        return Answer(lost=lost)
    code = _joined(block, parts)
    tree = parsed(code) if block.language == PYTHON else None
    if tree is None:
        return Answer(block, tuple(parts), lost, code)
    file, free = list(ast.walk(ast.parse(block.code))), reads(tree, code)
    imports, bound = _imports(block, file, tree, free)
    kinds = _kinds(block, file, [name for name in free if name not in bound])
    return Answer(block, tuple(parts), lost, code, imports, kinds)


def without_words(kind: str) -> str:
    """What of a kind is the same in every language: a shape; not what is said of it."""
    shape = re.match(r"\([^()]*\)", kind)
    return kind if kind == BELOW else shape[0] if shape else ""


def parsed(code: str) -> ast.Module | None:
    """The tree of what compiles by itself; None for a ``return`` alone."""
    try:
        compile(code, "answer", "exec", dont_inherit=True)
        return ast.parse(code)
    except SyntaxError:
        return None


def bodies(tree: ast.Module) -> Iterator[tuple[ast.AST, str, list[ast.stmt]]]:
    """Each list of statements, with what has it and under which name."""
    for owner in ast.walk(tree):
        for name in BODIES:
            if isinstance(body := getattr(owner, name, None), list):
                yield owner, name, body


def _parts(block: Block) -> list[Part]:
    """What an answer may name, in the order of the block."""
    lines = [line.strip() for line in block.code.splitlines()]
    if block.language != PYTHON:
        said = [(n, line) for n, line in enumerate(lines, 1) if line]
        return [Part(n, n, line, place) for place, (n, line) in enumerate(said)]
    found = []
    tree = parsed(block.code)
    for owner, name, nodes in bodies(tree) if tree else ():
        nodes = [node for node in nodes if not isinstance(node, IMPORTS)]
        for place, node in enumerate(nodes):
            decorators = getattr(node, "decorator_list", ())
            first = min([node.lineno, *(one.lineno for one in decorators)])
            head = lines[node.lineno - 1]
            found.append(Part(first, node.end_lineno, head, place, name, owner, node))
    return sorted(found, key=lambda part: part.first)


def _chosen(heads: list[str], parts: list[Part]) -> list[Part]:
    """The parts that the lines name, each below the one before, next to it if it can.

    Where several begin with the first line, the one from which most lines follow.
    """
    tries = []
    for start in (part for part in parts if part.head == heads[0]) if heads else ():
        found = [start]
        for head in heads[1:]:
            one = found[-1]
            rest = [p for p in parts if p.head == head and p.first > one.last]
            if not rest:
                break
            found.append(next((p for p in rest if p.is_next(one)), rest[0]))
        near = sum(two.is_next(one) for one, two in pairwise(found))
        tries.append((len(found), near, -start.first, found))
    return max(tries, default=(0, 0, 0, []))[-1]


def _joined(block: Block, parts: list[Part]) -> str:
    """The source of the parts, and the comments between neighbours."""
    lines = block.code.splitlines()
    text = ""
    for before, part in pairwise([None, *parts]):
        own = textwrap.dedent("\n".join(lines[part.first - 1 : part.last]))
        between = "\n"
        if before and part.is_next(before):
            gap = lines[before.last : part.first - 1]
            gap = [] if any(IMPORT.match(line) for line in gap) else gap
            between += textwrap.dedent("".join(f"{line}\n" for line in gap))
        elif before and (before.is_definition or part.is_definition):
            between = "\n\n\n"
        text += between + own
    return text.strip("\n")


def reads(tree: ast.Module, code: str) -> list[str]:
    """The names that code reads before it binds them, in the order of its lines.

    Python's own bytecode and symbol table tell: what a function reads may be bound
    below it, in the file.
    """
    bound, free = set(GIVEN), set()
    for step in dis.get_instructions(compile(code, "answer", "exec")):
        if step.opname == "STORE_NAME":
            bound.add(step.argval)
        elif step.opname in ("LOAD_NAME", "DELETE_NAME"):
            free |= {step.argval} - bound
        elif isinstance(step.argval, CodeType) and step.argval.co_name[0] == "<":
            # A comprehension: := in it binds a name of the file.
            inner = dis.get_instructions(step.argval)
            bound.update(each.argval for each in inner if each.opname == "STORE_GLOBAL")
    for scope in _inner_scopes(symtable.symtable(code, "answer", "exec")):
        for name in scope.get_symbols():
            if name.is_global() and name.is_referenced():
                free |= {name.get_name()} - bound
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    names.sort(key=lambda node: (node.lineno, node.col_offset))
    return [name for name in dict.fromkeys(node.id for node in names) if name in free]


def _inner_scopes(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    for child in table.get_children():
        yield child
        yield from _inner_scopes(child)


def _bound(name: ast.alias) -> str:
    """The name that a part of an import binds."""
    return name.asname or name.name.partition(".")[0]


def _imports(
    block: Block, file: list[ast.AST], tree: ast.Module, free: list[str]
) -> tuple[str, set[str]]:
    """The lines that import those of the names which the file imports; the names.

    A module below another comes along where its path is used, or where a comment says
    why it is imported.
    """
    paths = {ast.unparse(n) for n in ast.walk(tree) if isinstance(n, ast.Attribute)}
    nodes = [node for node in file if isinstance(node, IMPORTS)]
    lines, found, bound, packages = block.code.splitlines(), {}, set(), set()
    for node in sorted(nodes, key=lambda node: node.lineno):
        line, names = lines[node.lineno - 1].strip(), []
        package = (getattr(node, "module", None) or node.names[0].name).split(".")[0]
        for name in node.names:
            part = isinstance(node, ast.Import) and "." in name.name and not name.asname
            wanted = name.name in paths or ("  # " in line and package in packages)
            if wanted if part else _bound(name) in free:
                names.append(name)
                bound.add(_bound(name))
                packages.add(package)
        if names:
            whole = names == node.names and node.lineno == node.end_lineno
            whole = whole and "noqa" not in line
            node.names = names
            found[line if whole else ast.unparse(node)] = None
    return "\n".join(found), bound


def _kinds(block: Block, file: list[ast.AST], names: list[str]) -> dict[str, str]:
    """What the file's comments say of the names, where it binds or uses them."""
    lines, module = block.code.splitlines(), file[0]
    defined = {node.name for node in module.body if isinstance(node, DEFINITIONS)}
    kinds = {name: BELOW if name in defined else "" for name in names}
    bound = {n.lineno for n in file if isinstance(n, ast.Name) and _is_set(n, kinds)}
    for node in file:
        if not isinstance(node, ast.Name) or node.id not in kinds:
            continue
        comment, kind = COMMENT.search(lines[node.lineno - 1]), kinds[node.id]
        if comment and comment["kind"]:
            if _is_set(node, kinds) or node.lineno not in bound:  # it is of that name
                kinds[node.id] = comment["kind"]
        elif comment and not comment["shape"]:
            kinds[node.id] = "" if kind == BELOW else kind
        elif comment and isinstance(node.ctx, ast.Store):
            kinds[node.id] = kind or _shape(comment["shape"], node, file)
    return kinds


def _is_set(node: ast.Name, names: Container[str]) -> bool:
    return isinstance(node.ctx, ast.Store) and node.id in names


def _shape(said: str, name: ast.Name, file: list[ast.AST]) -> str:
    """What a comment says of one of the names that its line binds, in their order."""
    bound = [node for node in file if isinstance(node, ast.Name)]
    bound = [
        n for n in bound if n.lineno == name.lineno and isinstance(n.ctx, ast.Store)
    ]
    shapes = SHAPES.findall(said)
    return shapes[bound.index(name)] if len(bound) == len(shapes) > 1 else said


def to_reach(given: Answer, block: Block) -> tuple[tuple[int, int], ...]:
    """The first and last line of each statement of a snippet that a run must reach.

    They are those of the answer, and those that claim something. A shell block needs
    no such list: it stops at the first failure, so its end says all.
    """
    tree = ast.parse(block.code)
    spans = {(node.lineno, node.end_lineno) for node in claims(tree)}
    shown = given.parts if given.block and given.block.path == block.path else ()
    spans.update(span for part in shown for span in statements(part.node))
    return tuple(sorted(spans))


def statements(tree: ast.AST) -> Iterator[tuple[int, int]]:
    """The first and last line of each statement that a tracer can see."""
    for node in ast.walk(tree):
        text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if isinstance(node, ast.stmt) and not text and not isinstance(node, UNTRACED):
            yield node.lineno, node.end_lineno
