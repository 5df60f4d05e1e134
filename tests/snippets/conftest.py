"""What behaviour tests may not reach: the real home, caches, the snippets, the time."""

import os
import runpy
import shutil
import sys
import tempfile
import time
from pathlib import Path

import pytest

from cookbook.running.child import GUARD, LOGS

SNIPPETS = f"{Path(__file__).parents[2] / 'snippets'}{os.sep}"
CACHES = ("TORCH_HOME", "HF_HOME", "XDG_CACHE_HOME")
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT


# An empty home and temporary folder, and no caches, for all tests together: before the
# first of them imports a snippet. The number of threads is torch's own choice: tests
# quote what it says then.
FOLDER = Path(tempfile.mkdtemp(prefix="t-"))
for name in ("HOME", "TMPDIR"):
    (FOLDER / name).mkdir()
    os.environ[name] = str(FOLDER / name)
tempfile.tempdir = None
for name in (*CACHES, "OMP_NUM_THREADS"):
    os.environ.pop(name, None)
# Tests meet the guard of blocks: there is no network.
with pytest.MonkeyPatch.context() as patch:
    patch.setenv(LOGS, str(FOLDER))
    runpy.run_path(str(GUARD))


def pytest_unconfigure():
    shutil.rmtree(FOLDER, ignore_errors=True)


@pytest.fixture(scope="module", autouse=True)
def closed_figures():
    """What a module's snippets draw ends with it: Matplotlib warns of many figures."""
    yield
    if plt := sys.modules.get("matplotlib.pyplot"):
        plt.close("all")


def refuse_writing(event: str, args: tuple) -> None:
    """Audit hook: a snippet that is loaded writes to no file among the snippets.

    Only ``pytest --record`` does, when it runs the pages.
    """
    if sys.is_finalizing():  # the modules are gone
        return
    if os.environ.get("PYTEST_CURRENT_TEST", "").startswith("docs/"):
        return
    if event == "open" and isinstance(args[0], str) and args[2] & WRITES:
        path = os.path.abspath(args[0])  # noqa: PTH100 - each file that is opened
        if path.startswith(SNIPPETS) and "__pycache__" not in path:
            raise PermissionError(f"a snippet's test must not write to {path}")


sys.addaudithook(refuse_writing)


@pytest.fixture
def clock(monkeypatch):
    """A clock that only sleep() moves."""
    now = [100.0]

    def sleep(seconds):
        now[0] += seconds

    monkeypatch.setattr(time, "perf_counter", lambda: now[0])
    monkeypatch.setattr(time, "sleep", sleep)
    return sleep
