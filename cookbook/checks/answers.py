"""The rules of an answer: one piece of one block, short, that compiles by itself."""

import ast
import re
import subprocess
from collections.abc import Iterator
from functools import partial

from cookbook.book import answer
from cookbook.book.catalogue import Recipe
from cookbook.book.pages import PYTHON, YOURS, Page
from cookbook.checks import snippets
from cookbook.rules import Problem, limits

SILENCED = re.compile(r"#.*\b(noqa|pragma)\b")


def problems(recipe: Recipe) -> Iterator[Problem]:
    """What is wrong with the answer of a recipe."""
    page, given = recipe.page_for("en"), recipe.answer
    at = partial(page.problem, page.meta_line("answer"))
    if given.lost:
        yield at("answer-not-in-code", text=given.lost)
    elif not given.parts:
        yield at("answer-missing")
    else:
        for rule, facts in faults(given, shape(page, given)):
            yield at(rule, **facts)
    shell = [block.code for block in recipe.blocks if not block.snippet]
    shell = "".join(shell).splitlines()
    for line in recipe.command.splitlines():
        if line not in shell:
            number = page.meta_line("command")
            yield page.problem(number, "command-not-in-block", text=line)
    for page in recipe.written.values():
        told = page.meta.get(YOURS, {})
        if not isinstance(told, dict) or told.keys() - given.yours.keys():
            names = ", ".join(given.yours) or "none"
            yield page.problem(page.meta_line(YOURS), "yours-unknown", names=names)


def faults(given: answer.Answer, shape: str) -> Iterator[tuple[str, dict]]:
    """What is wrong with an answer by itself: rules, each with its facts."""
    count = sum(1 for line in given.code.splitlines() if line.strip())
    if count > limits.ANSWER[shape]:
        yield "answer-too-long", {"count": count, "limit": limits.ANSWER[shape]}
    if given.is_torn:
        yield "answer-torn", {}
    if reason := does_not_compile(given):
        yield "answer-does-not-compile", {"reason": reason}
    if "self" in given.yours:
        yield "answer-without-class", {}
    if found := SILENCED.search(given.code):
        yield "answer-silenced", {"text": found[1]}
    for name in bound_twice(given):
        yield "answer-binds-twice", {"name": name}


def shape(page: Page, given: answer.Answer) -> str:
    """The shape of the snippet from which the answer is; a shell's is a call."""
    if page.meta.get("shape") == "program":
        return "program"
    is_python = given.language == PYTHON
    return snippets.shape(ast.parse(given.block.code)) if is_python else "call"


def does_not_compile(given: answer.Answer) -> str | None:
    """Why the answer alone is no code of its language; None where it is."""
    if given.language != PYTHON:  # what is skipped is seen by no run
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
