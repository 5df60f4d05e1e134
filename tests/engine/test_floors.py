"""No import goes up or sideways: a room uses only the floors below it."""

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.helpers import ROOT

# From the ground up; what stands in a folder may use its own neighbours, and two
# folders of a floor never meet.
FLOORS = (
    {"rules"},
    {"book"},
    {"checks"},
    {"running", "site"},
    {"recipes"},
    {"__main__"},
)
FLOOR = {room: number for number, rooms in enumerate(FLOORS) for room in rooms}


def imports(file: Path) -> Iterator[str]:
    """The rooms of the engine that a file imports, anywhere in it."""
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        names = []
        if isinstance(node, ast.ImportFrom) and node.module == "cookbook":
            names = [f"cookbook.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        yield from (name.split(".")[1] for name in names if "cookbook." in name)


def test_no_import_goes_up_or_sideways():
    wrong = []
    for file in sorted((ROOT / "cookbook").rglob("*.py")):
        path = file.relative_to(ROOT / "cookbook")
        room = path.parts[0].removesuffix(".py")
        if room == "__init__":
            continue
        for used in imports(file):
            if used != room and FLOOR[used] >= FLOOR[room]:
                wrong.append(f"cookbook/{path} imports {used}, which is not below it")
    assert wrong == []
