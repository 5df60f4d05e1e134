"""Break snippets on purpose, and see whether their tests notice.

    .venv/bin/python -m cookbook.running.mutation                      every snippet
    .venv/bin/python -m cookbook.running.mutation training/mixup.py    these

Each mutant stands in for the snippet in a copy of the snippets and tests. There the
snippet's tests run, in a process forked from this one, which has torch and whatever
else they import loaded; then the snippet itself, whose output is compared. A mutant
that neither notices is listed with its line.

For ``check <slug>`` the fork server calls ``prove``: the tests as they are, then a
handful of mutants, by which only the tests are judged.
"""

import argparse
import ast
import gc
import importlib
import io
import json
import os
import resource
import runpy
import shutil
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from functools import partial
from pathlib import Path

import pytest
import torch  # noqa: F401, loaded once for all forks

from cookbook.checks.mutants import Mutant, mixed, mutants
from cookbook.pages import tests_of
from cookbook.running import namespaces
from cookbook.running.forkserver import import_lazy
from cookbook.running.output import matches

COPIED, LINKED = ("snippets", "tests"), ("docs", "cookbook", "pyproject.toml")
LEFT_OUT = shutil.ignore_patterns("__pycache__", "engine", "search", "site")
SHARED = (Path("tests/conftest.py"), Path("tests/helpers.py"))
TESTS_SECONDS, MUTANT_SECONDS = 600, 60  # for a snippet's tests; where it is broken
PRINTED = "printed.txt"  # in the copy
FEW, ENOUGH = 5, 3  # mutants to try; of which so many need be noticed
CPU_SECONDS = 4  # for the few, until one is noticed three times as much
ADDED = "addopts=--import-mode=importlib"
OPTIONS = ("-q", "-p", "no:cacheprovider", "-o", ADDED)
SILENT = (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)
BROKEN = 70  # the exit status where this program itself fails
FAULTS = (BROKEN, pytest.ExitCode.INTERNAL_ERROR, pytest.ExitCode.USAGE_ERROR)


@contextmanager
def copied(root: Path) -> Iterator[Path]:
    """A folder with all that behaviour tests read, to break snippets in."""
    folder = Path(tempfile.mkdtemp(prefix="mutation-"))
    try:
        for name in COPIED:
            shutil.copytree(root / name, folder / name, ignore=LEFT_OUT)
        for name in LINKED:
            (folder / name).symlink_to(root / name)
        yield folder
    finally:
        shutil.rmtree(folder)


def preload(root: Path, snippets: list[Path]) -> None:
    """Import what the tests and the snippets import, once for all forks."""
    files = [root / file for file in (*SHARED, *snippets, *map(tests_of, snippets))]
    files = [file for file in files if file.exists()]
    for name in sorted({name for file in files for name in imported(file)}):
        if name.partition(".")[0] != "tests":
            with suppress(Exception):  # the tests tell
                importlib.import_module(name)
    import_lazy(files)
    gc.freeze()  # a collection in a fork would copy all that is loaded


def imported(file: Path) -> Iterator[str]:
    """The modules that a file imports when it is loaded, or names that may be such."""
    for node in parsed(file).body:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def parsed(file: Path) -> ast.Module:
    """The syntax tree of a file, an empty one where there is none."""
    try:
        return ast.parse(file.read_text("utf-8"))
    except (OSError, SyntaxError, ValueError):  # the other checks tell
        return ast.Module([], [])


def in_fork(seconds: int, function: Callable[[], int]) -> int | None:
    """The exit code of a function, run in a process of its own with a time limit.

    None where it is not done in time, as on a busy machine. CPU time ends a loop
    without end; twice as many seconds of the clock, what waits.

    Raises:
        RuntimeError: pytest could not run at all.
    """
    pid = os.fork()
    if pid == 0:
        os.setsid()
        namespaces.die_with_parent()
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
        code = BROKEN
        try:
            code = function()
        except BaseException:
            traceback.print_exc()
        os._exit(code)
    signal.signal(signal.SIGALRM, lambda *_: os.killpg(pid, signal.SIGKILL))
    signal.alarm(2 * seconds)
    _, status = os.waitpid(pid, 0)
    signal.alarm(0)
    code = os.waitstatus_to_exitcode(status)
    if code in FAULTS:
        raise RuntimeError("pytest could not run")
    return None if code == -signal.SIGKILL else code


def noticed(folder: Path, snippet: Path, output: bool) -> bool | None:
    """Whether the tests, or else its output, tell the broken snippet in the copy.

    None where they are not done in time.
    """

    def run() -> int:
        code = run_tests(folder, snippet, "-x")
        return code or (printed_otherwise(snippet) if output else 0)

    code = in_fork(MUTANT_SECONDS, run)
    return None if code is None else code != 0


def run_tests(folder: Path, snippet: Path, *options: str) -> int:
    """0 where the tests pass, or there are none; what they print is kept in PRINTED."""
    os.chdir(folder)
    sys.path[0] = str(folder)
    for name in [name for name in sys.modules if name.partition(".")[0] == "tests"]:
        del sys.modules[name]
    # Two mutants of one second and one length would share their byte code.
    sys.dont_write_bytecode = True
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    printed = (folder / PRINTED).open("w", encoding="utf-8")
    with printed, redirect_stdout(printed), redirect_stderr(printed):
        code = pytest.main([*OPTIONS, *options, str(tests_of(snippet))])
    return 0 if code in SILENT else int(code)


def printed_otherwise(snippet: Path) -> int:
    """Run the snippet as a script; 1 where it fails, or prints what is not recorded."""
    recorded, printed = snippet.with_suffix(".out"), io.StringIO()
    try:
        with redirect_stdout(printed), redirect_stderr(io.StringIO()):
            runpy.run_path(str(snippet), run_name="__main__")
    except BaseException:  # whatever it is, it was noticed
        return 1
    text = recorded.read_text("utf-8") if recorded.exists() else printed.getvalue()
    return int(not matches(text, printed.getvalue()))


def trials(folder: Path, snippet: Path, tried: Iterator[Mutant], output: bool):
    """Yield each mutant, and whether it was noticed."""
    file = folder / snippet
    source = file.read_text("utf-8")
    try:
        for mutant in tried:
            file.write_text(mutant.source, "utf-8")
            yield mutant, noticed(folder, snippet, output)
    finally:
        file.write_text(source, "utf-8")  # other tests may read it


def prove(snippets: list[Path]) -> None:
    """Run each snippet's tests, and print as JSON what came of them, and of mutants.

    ``printed`` is by the tests, ``passed`` whether they did; ``tried`` counts the
    mutants, ``missed`` has the line and the kind of each that the tests do not notice.
    """
    root = snippets[0].parents[2]
    names = [snippet.relative_to(root) for snippet in snippets]
    preload(root, names)
    with copied(root) as folder:
        for name in names:
            code = in_fork(TESTS_SECONDS, partial(run_tests, folder, name))
            printed = (folder / PRINTED).read_text("utf-8").strip()
            if code is None or code < 0:
                printed += f"\n{tests_of(name)}:1: killed, or not done in time ({code})"
            tried, missed = few(folder, name) if code == 0 else (0, [])
            proof = {"printed": printed, "passed": code == 0}
            print(json.dumps(proof | {"tried": tried, "missed": missed}), flush=True)


def few(folder: Path, snippet: Path) -> tuple[int, list[tuple[int, str]]]:
    """Try a handful of mutants, within a budget: how many, and which are missed."""
    tried, missed, start = 0, [], cpu_seconds()
    source = (folder / snippet).read_text("utf-8")
    for mutant, was_noticed in trials(folder, snippet, mixed(source)[:FEW], False):
        if was_noticed is None:
            break
        tried += 1
        if not was_noticed:
            missed.append((mutant.line, mutant.what))
        budget = CPU_SECONDS * (3 if len(missed) == tried else 1)
        if tried - len(missed) == ENOUGH or cpu_seconds() - start > budget:
            break
    return tried, missed


def cpu_seconds() -> float:
    """What the mutants have cost so far; the load of the machine does not count."""
    times = os.times()
    return times.children_user + times.children_system


def every(folder: Path, snippets: list[Path]) -> int:
    """Try every mutant; 1 when more than a tenth survives."""
    total = survived = 0
    for snippet in snippets:
        source, test = (folder / snippet).read_text("utf-8"), tests_of(snippet)
        if not (folder / test).exists() or noticed(folder, snippet, True):
            print(f"{snippet}: {test} is missing, or fails as it is", flush=True)
            return 2
        results = []
        for mutant, was_noticed in trials(folder, snippet, mutants(source), True):
            results.append(was_noticed is not False)
            if was_noticed is False:
                print(f"{snippet}:{mutant.line}: survived: {mutant.what}", flush=True)
        print(f"{snippet}: {sum(results)} of {len(results)} noticed", flush=True)
        total, survived = total + len(results), survived + results.count(False)
    share = (total - survived) / total
    print(f"{total - survived} of {total} mutants noticed, {share:.1%}")
    return int(share < 0.9)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("snippets", nargs="*", help="below snippets/; default all")
    arguments, root = parser.parse_args(), Path.cwd()
    names = [Path("snippets", name) for name in arguments.snippets]
    names = names or [
        path.relative_to(root) for path in sorted(root.glob("snippets/**/*.py"))
    ]
    names = [name for name in names if parsed(root / name).body]
    preload(root, names)
    with copied(root) as folder:
        return every(folder, names)


if __name__ == "__main__":
    sys.exit(main())
