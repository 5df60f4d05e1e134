"""The answer: the one to eight lines of a recipe's blocks that the reader came for.

It stands once, as ``answer:`` in the front matter of the English page. Its lines
are lines of the blocks, in their order; indentation aside, each is verbatim.
"""

import ast
import subprocess
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass

from cookbook.claims import claims
from cookbook.pages import PYTHON, Block

MAX_LINES = 8


@dataclass(frozen=True)
class Place:
    """Where a line of the answer stands: a block, and the line in its code."""

    block: Block
    line: int


def lines(answer: str) -> list[str]:
    """The lines that say something."""
    return [line for line in answer.splitlines() if line.strip()]


def places(answer: str, blocks: list[Block]) -> Iterator[Place | str]:
    """For each line of the answer, where it stands; a line that is nowhere, itself."""
    rest = [
        (Place(block, number), line.strip())
        for block in blocks
        for number, line in enumerate(block.code.splitlines(), start=1)
    ]
    for line in lines(answer):
        here = (n for n, (_, text) in enumerate(rest) if text == line.strip())
        found = next(here, None)
        if found is None:
            yield line.strip()
            return
        yield rest[found][0]
        rest = rest[found + 1 :]


def language(answer: str, blocks: list[Block]) -> str:
    """The language of the block in which the answer begins."""
    first = next(places(answer, blocks), "")
    return first.block.language if isinstance(first, Place) else PYTHON


def fault(answer: str, language: str) -> str | None:
    """Why the answer alone is no code of its language; None where it is."""
    text = textwrap.dedent(answer)
    if language != PYTHON:
        command = ["bash", "-n", "-c", text]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        return run.stderr.strip() or None
    try:
        ast.parse(text)
    except SyntaxError as error:
        return error.msg
    return None


def to_reach(
    answer: str, block: Block, blocks: list[Block]
) -> tuple[tuple[int, int], ...]:
    """The first and last line of each statement of a snippet that a run must reach.

    They are those that the answer shows, and those that claim something. A shell
    block needs no such list: it stops at the first failure, so its end says all.
    """
    shown = {
        place.line
        for place in places(answer, blocks)
        if isinstance(place, Place) and place.block == block
    }
    tree = ast.parse(block.code)
    spans = {(node.lineno, node.end_lineno) for node in claims(tree)}
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt) and shown & set(range(*own_lines(node))):
            first, end = own_lines(node)
            spans.add((first, end - 1))
    return tuple(sorted(spans))


def own_lines(node: ast.stmt) -> tuple[int, int]:
    """The lines of a statement up to its body, as a range: first, and one past."""
    body = getattr(node, "body", None)
    first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
    if isinstance(body, list) and body:
        return first, max(body[0].lineno, first + 1)
    return first, node.end_lineno + 1
