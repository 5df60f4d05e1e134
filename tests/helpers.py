"""What behaviour tests share: loading a snippet, reading its pages' errors."""

import fcntl
import importlib.util
import mmap
import os
import random
import shutil
import signal
import subprocess
import sys
import traceback
from collections.abc import Callable
from contextlib import contextmanager
from functools import cache
from itertools import chain
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
import torch

from cookbook.book.catalogue import Catalogue, Recipe
from cookbook.book.pages import LANGUAGES, Page
from cookbook.checks.messages import begin_with

IMPORT_SECONDS = 300
ROOT = Path(__file__).parents[1]
TORCH_CPU = Path(torch.__file__).parent / "lib/libtorch_cpu.so"
TORCH_CUDA = TORCH_CPU.with_name("libtorch_cuda.so")
cuda_build = pytest.mark.skipif(
    not TORCH_CUDA.exists(), reason="reads the library of a build for CUDA"
)


def load_snippet(path: str) -> ModuleType:
    """Import ``snippets/<path>`` without running its main guard."""
    file = ROOT / "snippets" / path
    name = f"snippet_{file.stem}"
    spec = importlib.util.spec_from_file_location(name, file)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # where pickle looks its classes up
    with unchanged_globals(), time_limit(IMPORT_SECONDS):
        try:
            spec.loader.exec_module(module)
        except SystemExit as leave:  # it would end pytest
            raise RuntimeError(f"{path} leaves when it is imported") from leave
    return module


def made_once(name: str, make: Callable[[Path], None], factory) -> Path:
    """A folder that one of pytest-xdist's workers makes, and all of them read."""
    base = factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        base = base.parent
    folder, unfinished = base / name, base / f"{name}-unfinished"
    with (base / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            shutil.rmtree(unfinished, ignore_errors=True)  # of a worker that failed
            unfinished.mkdir()
            make(unfinished)
            unfinished.rename(folder)
    return folder


def run_on(device: str | None, path: str, patch: pytest.MonkeyPatch) -> SimpleNamespace:
    """What ``snippets/<path>`` binds where this device is its GPU; None: no GPU."""
    source = (ROOT / "snippets" / path).read_text("utf-8")
    assert '"cuda" if torch.cuda.is_available()' in source
    patch.setattr(torch.cuda, "is_available", lambda: device is not None)
    names = {"__name__": "__main__"}
    exec(source.replace('"cuda" if', f'"{device}" if'), names)
    return SimpleNamespace(**names)


def seed():
    random.seed(0)
    np.random.seed(0)
    torch.manual_seed(0)


@contextmanager
def unchanged_globals():
    """Undo what a snippet sets process-wide: seeds, switches, dtype, environment."""
    environment = dict(os.environ)
    python, numpy, cpu = random.getstate(), np.random.get_state(), torch.get_rng_state()
    deterministic = torch.get_deterministic_debug_mode()  # 0, 1: it warns, or 2
    benchmark = torch.backends.cudnn.benchmark
    dtype, gradients = torch.get_default_dtype(), torch.is_grad_enabled()
    try:
        yield
    finally:
        torch.set_grad_enabled(gradients)
        torch.set_default_dtype(dtype)
        torch.backends.cudnn.benchmark = benchmark
        if torch.get_deterministic_debug_mode() != deterministic:  # imports much
            torch.use_deterministic_algorithms(
                deterministic > 0, warn_only=deterministic == 1
            )
        random.setstate(python)
        np.random.set_state(numpy)
        torch.set_rng_state(cpu)
        os.environ.clear()
        os.environ.update(environment)


@contextmanager
def time_limit(seconds: int):
    """Raise TimeoutError in what takes longer."""

    def stop(signum, frame):
        raise TimeoutError(f"not done after {seconds} s")

    before = signal.signal(signal.SIGALRM, stop)
    outer = signal.setitimer(signal.ITIMER_REAL, seconds)  # the test's own limit
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, *outer)
        signal.signal(signal.SIGALRM, before)


@cache
def recipes() -> dict[str, Recipe]:
    """The recipes by slug, read once."""
    return Catalogue(ROOT).by_slug


@cache
def quotes(page: str) -> list[str]:
    """The messages that a page quotes in either language, e.g. ``data/x``."""
    paths = [Path(f"docs/{lang}/{page}.md") for lang in LANGUAGES]
    written = [path for path in paths if (ROOT / path).exists()]
    assert written, f"no page {page}.md"
    found = (Page.load(ROOT, path).errors for path in written)
    return list(dict.fromkeys(chain(*found)))


def quoted(page: str, start: str) -> str:
    """The one message of a page that begins so, whole."""
    found = begin_with(quotes(page), start)
    listed = "\n".join(quotes(page))
    assert len(found) == 1, (
        f"{page}.md quotes {len(found)} messages that begin with {start!r}; write the "
        f"start of one of these:\n{listed}"
    )
    return found[0]


def assert_documented(page: str, start: str, raised: str) -> None:
    """Compare what was raised with the message of the page that begins so."""
    message = quoted(page, start)
    raised = "\n".join(line.rstrip() for line in raised.split("\n"))  # as on a page
    assert raised.startswith(message), (
        f"{page}.md quotes\n{message}\nand this was raised:\n{raised}"
    )


@contextmanager
def raises_as_documented(page: str, start: str):
    """Expect the error that the page quotes with this start, word for word."""
    quoted(page, start)  # first of all, that there is one
    with pytest.raises(Exception) as caught:  # noqa: PT011, compared by its text
        yield caught
    # What its frames hold goes at once: a loader's workers, collected as garbage, are
    # waited for for 5 s.
    traceback.clear_frames(caught.tb)
    assert_documented(page, start, f"{caught.type.__name__}: {caught.value}")


def lacking(library: Path, *texts: str) -> list[str]:
    """The texts that a library does not hold: messages that take a GPU to raise."""
    with (
        library.open("rb") as file,
        mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as binary,
    ):
        return [text for text in texts if binary.find(text.encode()) < 0]


def crosses(ax) -> set[tuple[float, float]]:
    """The (row, column) of each × in a drawn table; only these cells are empty."""
    marked = {text.get_position()[::-1] for text in ax.texts if text.get_text() == "×"}
    (mesh,) = ax.collections
    mesh.update_scalarmappable()
    corners = mesh.get_coordinates()
    centres = ((corners[:-1, :-1] + corners[1:, 1:]) / 2).reshape(-1, 2)
    empty = centres[mesh.get_facecolor()[:, 3] == 0]
    assert marked == {(row, column) for column, row in empty.tolist()}
    return marked


def tables(ax) -> list[tuple[list[list[str]], list[list[str]]]]:
    """The tables drawn in an axes, from above: texts and colours, row by row.

    A text stands in the middle of its cell. An empty cell is "none"; the first row is
    on top.
    """
    assert ax.yaxis_inverted()
    said = {tuple(np.round(t.get_position(), 3)): t.get_text() for t in ax.texts}
    found = []
    for mesh in ax.collections:
        mesh.update_scalarmappable()
        corners = mesh.get_coordinates()
        centres = np.round((corners[:-1, :-1] + corners[1:, 1:]) / 2, 3)
        faces = mesh.get_facecolor().reshape(*centres.shape[:2], 4)
        texts = [[said.pop(tuple(place)) for place in row] for row in centres]
        found.append((texts, [[_colour(face) for face in row] for row in faces]))
    assert not said, "texts beside the tables"
    return found


def _colour(face) -> str:
    return (
        "#" + bytes((face * 255).round().astype("uint8")).hex() if face[3] else "none"
    )


def cells(ax) -> np.ndarray:
    """The number of each cell of a table that is drawn as an image with gaps."""
    (image,) = ax.images
    drawn = image.get_array().data
    inner = drawn[1::8, 1::8]
    for i, j in np.ndindex(inner.shape):
        cell = drawn[8 * i : 8 * i + 8, 8 * j : 8 * j + 8]
        assert (cell[1:, 1:] == inner[i, j]).all()
        assert not cell[0].any()
        assert not cell[:, 0].any()
    return inner


def assert_own_gpu(monkeypatch, start):
    """A process that is started where there are GPUs takes its own, and joins by NCCL.

    It stops there: the rest of the script needs the GPUs.
    """
    calls = []

    class Joined(Exception):
        pass

    def join(backend, device_id):
        calls.append((backend, device_id))
        raise Joined

    monkeypatch.setenv("RANK", "5")
    monkeypatch.setenv("LOCAL_RANK", "1")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "set_device", calls.append)
    monkeypatch.setattr(torch.distributed, "init_process_group", join)
    with pytest.raises(Joined):
        start()
    own = torch.device("cuda", 1)
    assert calls == [own, ("nccl", own)]


def run_python(
    *command: str, folder: Path, **environment: str
) -> subprocess.CompletedProcess:
    """Run Python in the folder, warnings as errors."""
    settings = {"PYTHONWARNINGS": "error", "TMPDIR": str(folder), **environment}
    return subprocess.run(
        [sys.executable, *command],
        cwd=folder,
        env={**os.environ, **settings},
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
    )


# One interpreter that imports once; forks are fast, and end with it.
FORKS = """

def enter(rank):
    os.environ.update(RANK=str(rank), LOCAL_RANK=str(rank))
    work(rank)

import os, warnings
import torch.distributed as dist
import torch.multiprocessing as mp

warnings.filterwarnings("ignore", "This process", DeprecationWarning)  # it has threads
store = dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)
os.environ.update(TORCHELASTIC_USE_AGENT_STORE="True", WORLD_SIZE="2")
os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(store.port))
mp.start_processes(enter, nprocs=2, start_method="fork")
"""


def in_two_processes(folder: Path, driver: str, *arguments: str) -> str:
    """Call the driver's ``work(rank)`` twice, as torchrun does; return what is printed.

    It is faster than torchrun, which imports torch three times.
    """
    (folder / "driver.py").write_text(driver + FORKS, encoding="utf-8")
    run = run_python(
        "driver.py",
        *arguments,
        folder=folder,
        OMP_NUM_THREADS="1",
        CUDA_VISIBLE_DEVICES="",
    )
    assert run.returncode == 0, run.stderr
    return run.stdout
