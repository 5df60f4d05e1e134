"""Break snippets on purpose, and see whether their tests notice, for ``check <slug>``.

The fork server calls ``prove`` in a process of its own. Each mutant stands in for the
snippet in a copy of the snippets and tests. There the snippet's tests run, in a fork of
that process, which has torch and whatever else they import loaded.
"""

import ast
import gc
import importlib
import json
import os
import resource
import shutil
import signal
import sys
import tempfile
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from pathlib import Path

import pytest

from cookbook.checks.mutants import mixed
from cookbook.pages import tests_of
from cookbook.running import namespaces
from cookbook.running.forkserver import import_lazy

COPIED, LINKED = ("snippets", "tests"), ("docs", "cookbook", "pyproject.toml")
LEFT_OUT = shutil.ignore_patterns("__pycache__", "engine", "search", "site")
SHARED = (Path("tests/conftest.py"), Path("tests/helpers.py"))
TESTS_SECONDS, MUTANT_SECONDS = 600, 60  # for a snippet's tests; where it is broken
PRINTED = "printed.txt"  # in the copy
FEW, ENOUGH = 5, 3  # mutants to try; how many, once noticed, are enough
CPU_SECONDS = 4  # for the few, until one is noticed three times as much
ADDED = "addopts=--import-mode=importlib"
OPTIONS = ("-q", "-p", "no:cacheprovider", "-o", ADDED)
SILENT = (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)
BROKEN = 70  # the exit status where this program itself fails
FAULTS = (BROKEN, pytest.ExitCode.INTERNAL_ERROR, pytest.ExitCode.USAGE_ERROR)


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
            code = run_tests(folder, name, TESTS_SECONDS)
            printed = (folder / PRINTED).read_text("utf-8").strip()
            if code is None or code < 0:
                printed += f"\n{tests_of(name)}:1: killed, or not done in time ({code})"
            tried, missed = try_mutants(folder, name) if code == 0 else (0, [])
            proof = {"printed": printed, "passed": code == 0}
            print(json.dumps(proof | {"tried": tried, "missed": missed}), flush=True)


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
    """The syntax tree of a file; an empty one where it has a fault."""
    try:
        return ast.parse(file.read_text("utf-8"))
    except (SyntaxError, ValueError):  # the other checks tell
        return ast.Module([], [])


def run_tests(folder: Path, snippet: Path, seconds: int, *options: str) -> int | None:
    """The exit code of a snippet's tests, in a fork; what they print is in PRINTED.

    It is None where they are not done in time, as on a busy machine. CPU time ends a
    loop without end; twice as many seconds of the clock, what waits.
    """
    pid = os.fork()
    if pid == 0:
        os.setsid()
        namespaces.die_with_parent()
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
        code = BROKEN
        try:
            code = call_pytest(folder, *options, str(tests_of(snippet)))
        except BaseException:
            traceback.print_exc()
        os._exit(code)
    signal.signal(signal.SIGALRM, lambda *_: os.killpg(pid, signal.SIGKILL))
    signal.alarm(2 * seconds)
    _, status = os.waitpid(pid, 0)
    signal.alarm(0)
    code = os.waitstatus_to_exitcode(status)
    return None if code == -signal.SIGKILL else code


def call_pytest(folder: Path, *arguments: str) -> int:
    """0 where the tests pass, or where there are none."""
    os.chdir(folder)
    sys.path[0] = str(folder)
    # Two mutants of one second and one length would share their byte code.
    sys.dont_write_bytecode = True
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    printed = (folder / PRINTED).open("w", encoding="utf-8")
    with printed, redirect_stdout(printed), redirect_stderr(printed):
        code = pytest.main([*OPTIONS, *arguments])
    return 0 if code in SILENT else int(code)


def try_mutants(folder: Path, snippet: Path) -> tuple[int, list[tuple[int, str]]]:
    """Try a handful of mutants, within a budget: how many, and which are missed."""
    tried, missed, start = 0, [], cpu_seconds()
    file = folder / snippet
    source = file.read_text("utf-8")
    for mutant in mixed(source)[:FEW] if parsed(file).body else ():
        file.write_text(mutant.source, "utf-8")
        code = run_tests(folder, snippet, MUTANT_SECONDS, "-x")
        if code in (None, *FAULTS):
            break
        tried += 1
        if code == 0:
            missed.append((mutant.line, mutant.what))
        budget = CPU_SECONDS * (3 if len(missed) == tried else 1)
        if tried - len(missed) == ENOUGH or cpu_seconds() - start > budget:
            break
    file.write_text(source, "utf-8")  # other tests may read it
    return tried, missed


def cpu_seconds() -> float:
    """What the mutants have cost so far; the load of the machine does not count."""
    times = os.times()
    return times.children_user + times.children_system
