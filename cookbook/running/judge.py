"""What came of a block: it ended well, reached what it claims, printed the same."""

import ast
import math
import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from textwrap import shorten

from cookbook.book import answer
from cookbook.book.catalogue import Catalogue
from cookbook.book.pages import PYTHON, Block, Page
from cookbook.running import output, pictures
from cookbook.running.child import END, LOGS
from cookbook.running.runner import Job, Result, Runner, shortened

SEED = re.compile(r"(?<=\bmanual_seed\()\d+(?=\))")
OTHER_SEEDS = (1000, 2000, 3000)  # more than its own
RAISED = re.compile(
    r"^(?:\[rank\d+\]: )?([\w.]*(?:Error|Exception|Warning|Exit)\b.*)", re.MULTILINE
)
FOLDERS = re.compile(r"(?<![\w./:])(?:/[\w.+-]+)+/")  # of an absolute path
CAUSE = 120  # characters of a failure's cause that a record keeps
TORCHRUN = re.compile(r"^ *torchrun (?:.*\\\n)*.*", re.MULTILINE)
PROCESSES = re.compile(r"--(?:nnodes|nproc-per-node)=(\d+)")
QUICK = 10.0  # seconds of CPU; to run what takes more four times would be too slow


def job_of(block: Block, page: Page) -> Job:
    """What to run: the snippet itself, or bash beside the page's snippets."""
    if block.language == PYTHON:
        return Job((str(page.root / block.snippet),))
    files = tuple(page.root / b.snippet for b in page.blocks if b.snippet)
    code = f'{block.code}: > "${LOGS}/{END}"\n'
    return Job(("bash", "-euo", "pipefail", "-c", code), files)


@cache
def gpus() -> int:
    """How many torch sees; unless all are hidden, a process of its own asks."""
    if os.environ.get("CUDA_VISIBLE_DEVICES") == "":
        return 0
    code = "import torch; print(torch.cuda.device_count())"
    command = [sys.executable, "-c", code]
    asked = subprocess.run(command, capture_output=True, text=True, check=False)
    return int(asked.stdout or 0)


def gpus_wanted(block: Block) -> int:
    """As many as torchrun starts processes, each of which takes its own."""
    commands = TORCHRUN.findall(block.code)
    counts = (math.prod(map(int, PROCESSES.findall(one))) for one in commands)
    return max(counts, default=1)


def record(block: Block, root: Path, result: Result) -> None:
    """Write what a snippet printed and drew beside it, unless its run failed."""
    if block.snippet and not result.problem:
        file = root / block.snippet
        output.record(file.with_suffix(".out"), result.stdout, output.matches)
        output.record(file.with_suffix(".svg"), result.picture, pictures.matches)


def fault(
    catalogue: Catalogue, page: Page, block: Block, result: Result, gpu: bool = False
) -> str | None:
    """Where a block failed, why, and all that it printed."""
    where, problem = _place_of_failure(page, block, result), result.problem
    if not problem and block.snippet:
        recipe = catalogue.by_slug[page.slug]
        spans = answer.to_reach(recipe.answer, block)
        missed = [a for a, b in spans if result.lines.isdisjoint(range(a, b + 1))]
        # On a GPU, what is said of machines without one does not come; lines are not
        # noted where nothing is traced.
        if missed and result.lines and not (gpu and block.mark != "gpu"):
            lines = ", ".join(map(str, missed))
            where = f"{block.snippet}:{missed[0]}"
            problem = f"never came to line {lines}: the answer, or a claim"
        elif not gpu:
            problem = _difference(catalogue.root, block.snippet, result)
    if not problem:
        return None
    sections = [f"{where}: {problem}"]
    for name, text in (("stderr", result.stderr), ("stdout", result.stdout)):
        if text:
            sections.append(f"--- {name}\n{shortened(text.rstrip())}")
    return "\n".join(sections)


def cause(fault: str, result: Result) -> str:
    """One line on a failure: the exception that ended the run, else what is wrong.

    A warning that was taken for an error may be wrapped, as by the exporter to ONNX.
    Where a file lies on this machine is nothing for readers.
    """
    raised = RAISED.findall(result.stderr) if result.problem else []
    own = [line for line in raised if "ChildFailedError" not in line]
    telling = [line for line in own if is_warning(line)] or own or raised
    line = telling[-1] if telling else fault.partition("\n")[0].partition(": ")[2]
    return shorten(FOLDERS.sub("…/", line), CAUSE, placeholder="…")


def with_cause(fault: str, cause: str) -> str:
    """The fault, whose first line tells the cause: summaries show no more of it."""
    first, *rest = fault.split("\n")
    is_told = cause.removesuffix("…") in FOLDERS.sub("…/", first)
    told = first if is_told else f"{first}: {cause}"
    return "\n".join([told, *rest])


def is_warning(cause: str) -> bool:
    """Whether the exception is a warning that was taken for an error."""
    return re.match(r"[\w.]*Warning\b", cause) is not None


def never_reached(block: Block, result: Result) -> int | None:
    """The first line of a snippet's statement that its run did not come to."""
    spans = sorted(answer.statements(ast.parse(block.code)))
    missed = (a for a, b in spans if result.lines.isdisjoint(range(a, b + 1)))
    return next(missed, None)


def fault_of_other_seeds(block: Block, result: Result, runner: Runner) -> str | None:
    """Whether a quick snippet's claims hold for its own seed only."""
    is_seeded = block.snippet and SEED.search(block.code)
    for more in OTHER_SEEDS if is_seeded and result.seconds < QUICK else ():
        file = runner.scratch / f"seeds-{more}" / block.snippet.name
        file.parent.mkdir(exist_ok=True)
        file.write_text(reseeded(block.code, more), "utf-8")
        result = runner.submit(Job((str(file),))).result()
        if result.problem:
            said = f"with other seeds, {result.problem}; claim what holds for any"
            return f"{block.snippet}:1: {said}\n{shortened(result.stderr)}"
    return None


def reseeded(code: str, more: int) -> str:
    return SEED.sub(lambda seed: str(int(seed[0]) + more), code)


def _difference(root: Path, snippet: Path, result: Result) -> str:
    """How a snippet printed or drew otherwise than is recorded; empty for the same."""
    file, picture = snippet.with_suffix(".out"), snippet.with_suffix(".svg")
    drawn = (root / picture).read_text("utf-8") if (root / picture).exists() else ""
    printed = result.stdout
    if (root / file).exists():
        printed = (root / file).read_text("utf-8")
    problem = ""
    if not pictures.matches(drawn, result.picture):
        problem = f"drew otherwise than {picture}"
        problem += "; look at it, and if right, pytest --record-output"
    elif not output.matches(printed, result.stdout):
        problem = f"printed otherwise than {file}; if right, pytest --record-output\n"
        problem += output.difference(printed, result.stdout)
    # Recorded on a CPU; a GPU rounds otherwise.
    return "" if problem and gpus() else problem


def _place_of_failure(page: Page, block: Block, result: Result) -> str:
    """The snippet's file and the line of it at which a run failed or hung."""
    if not block.snippet:
        return f"{page.path}:{block.line}"
    path = re.escape(str(page.root / block.snippet))
    lines = re.findall(rf'File "{path}", line (\d+)', result.stderr)
    innermost = 0 if result.exit is None else -1  # a hang's stacks begin there
    return f"{block.snippet}:{lines[innermost] if lines else 1}"
