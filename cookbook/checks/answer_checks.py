"""The rules of an answer: one piece of one block, short, that compiles by itself."""

import ast
import re
import subprocess
from collections.abc import Iterator

from cookbook import answer, limits
from cookbook.checks import snippet_checks
from cookbook.pages import PYTHON, YOURS, Page
from cookbook.rules import Problem

SILENCED = re.compile(r"#.*\b(noqa|pragma)\b")


def problems(page: Page) -> Iterator[Problem]:
    """What is wrong with the answer of a page; nothing where it has none."""
    given = answer.of(page.meta.get("answer"), page.blocks)
    at = page.meta_line("answer")
    if given.lost:
        yield page.problem(at, "answer-not-in-code", text=given.lost)
    elif given.parts:
        yield from _form_problems(page, given)
    elif "answer" in page.meta:
        yield page.problem(at, "answer-missing")
    yield from _command_problems(page)


def _form_problems(page: Page, given: answer.Answer) -> Iterator[Problem]:
    at = page.meta_line("answer")
    count = sum(1 for line in given.code.splitlines() if line.strip())
    limit = limits.ANSWER[shape(page, given)]
    if count > limit:
        yield page.problem(at, "answer-too-long", count=count, limit=limit)
    if given.is_torn:
        yield page.problem(at, "answer-torn")
    if reason := fault(given):
        yield page.problem(at, "answer-does-not-compile", reason=reason)
    if "self" in given.yours:
        yield page.problem(at, "answer-without-class")
    if found := SILENCED.search(given.code):
        yield page.problem(at, "answer-silenced", text=found[1])
    for name in bound_twice(given):
        yield page.problem(at, "answer-binds-twice", name=name)


def _command_problems(page: Page) -> Iterator[Problem]:
    """The shell lines that go with it are those of a block."""
    lines = str(page.meta.get("command", "")).splitlines()
    shell = [block.code.splitlines() for block in page.blocks if not block.snippet]
    for line in lines:
        if line.strip() and not any(line in code for code in shell):
            yield page.problem(
                page.meta_line("command"), "command-not-in-block", text=line
            )


def yours_problems(page: Page, names: Iterator[str]) -> Iterator[Problem]:
    """The page tells the kinds of names that the answer takes for granted."""
    told = page.meta.get(YOURS, {})
    kinds = told.values() if isinstance(told, dict) else [None]
    if set(told) - set(names) or not all(isinstance(kind, str) for kind in kinds):
        facts = {"names": ", ".join(names) or "none"}
        yield page.problem(page.meta_line(YOURS), "yours-unknown", **facts)


def shape(page: Page, given: answer.Answer) -> str:
    """The shape of the snippet from which the answer is; a shell's is a call."""
    if page.meta.get("shape") == "program":
        return "program"
    is_python = given.language == PYTHON
    return snippet_checks.shape(ast.parse(given.block.code)) if is_python else "call"


def fault(given: answer.Answer) -> str | None:
    """Why the answer alone is no code of its language; None where it is."""
    if given.language != PYTHON:
        command = ["bash", "-n", "-c", given.code]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        return run.stderr.strip() or None
    try:
        compile(given.code, "answer", "exec", dont_inherit=True)
    except SyntaxError as error:
        return error.msg
    return None


def bound_twice(given: answer.Answer) -> Iterator[str]:
    """Names that two statements of a body bind, with no use of the first value."""
    tree = answer.parsed(given.code) if given.language == PYTHON else None
    for _, _, body in answer.bodies(tree) if tree else ():
        unused: set[str] = set()
        for node in body:
            names = [n for n in ast.walk(node) if isinstance(n, ast.Name)]
            unused -= {n.id for n in names if isinstance(n.ctx, ast.Load)}
            if isinstance(node, ast.Assign | ast.AnnAssign):
                bound = {n.id for n in names if isinstance(n.ctx, ast.Store)} - {"_"}
                yield from sorted(bound & unused)
                unused |= bound
