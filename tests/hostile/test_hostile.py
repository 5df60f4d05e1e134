"""Blocks that do what no recipe should: each is reported, none harms the next.

Not part of ``make test``; run ``make test-hostile`` where running/ changes.
"""

import os
import socket
import tempfile
import time
import tomllib
from pathlib import Path

import pytest

from cookbook.running import namespaces, runner
from cookbook.running.runner import END, MARGIN, Job, Runner

pytestmark = pytest.mark.hostile
HERE = Path(__file__).parent
BLOCKS = tomllib.loads((HERE / "blocks.toml").read_text("utf-8"))
ROOT = HERE.parents[1]
LIMIT = 6  # seconds
SLACK = 10  # seconds; this machine may have other work
INHERIT = "import os; os.set_inheritable(os.open(os.environ['WITNESS'], 1), True)\n"
CANARY = """
import os, signal, threading
import torch
print(torch.get_default_dtype(), torch.get_default_device(), torch.get_num_threads())
print(torch.is_grad_enabled(), os.listdir(), os.listdir(os.environ["HOME"]))
print(os.listdir(os.environ["TMPDIR"]), threading.active_count())
print([signal.getsignal(each) for each in signal.valid_signals()])
"""
# What refuses all namespaces, as far as the server knows.
REFUSED = """
from cookbook.running import forkserver, namespaces
namespaces.granted = lambda: namespaces.NOTHING
forkserver.main()
"""


class Place:
    """A runner with one lane, and all the places where a block could leave things."""

    def __init__(self, folder: Path, level: int):
        self.snippets, self.temporary = folder / "snippets", folder / "tmp"
        self.snippets.mkdir()
        self.temporary.mkdir()
        self.level = level
        self.witness = folder / "witness"
        os.mkfifo(self.witness)
        self.reader = os.open(self.witness, os.O_RDONLY | os.O_NONBLOCK)
        self.runner = Runner(workers=1, timeout=LIMIT)

    def run(self, name: str, block: dict) -> runner.Result:
        if code := block.get("bash"):
            lines = f'exec 9> "$WITNESS"\n{code}\n: > "${END}"\n'
            job = Job(("bash", "-euo", "pipefail", "-c", lines))
        else:
            file = self.snippets / f"{name}-{time.monotonic_ns()}.py"
            file.write_text(INHERIT + block["python"])
            job = Job((str(file),))
        return self.runner.submit(job).result()

    def somebody_lives(self) -> bool:
        """Whether a process of a block still holds the pipe open."""
        try:
            return bool(os.read(self.reader, 1))
        except BlockingIOError:
            return True

    def left(self) -> set[str]:
        """What lies about."""
        folders = (self.temporary, self.runner.scratch, ROOT)
        found = {str(path) for folder in folders for path in folder.iterdir()}
        found |= {str(p) for p in self.snippets.iterdir() if p.suffix != ".py"}
        found |= {str(p) for p in Path("/dev/shm").glob("hostile*")}
        return found - {str(self.runner.scratch)}


@pytest.fixture(scope="module", params=["contained", "uncontained"])
def place(request):
    level = namespaces.ALL if request.param == "contained" else namespaces.NOTHING
    with (
        tempfile.TemporaryDirectory() as name,  # pytest's path is long for a socket
        pytest.MonkeyPatch.context() as patch,
        socket.create_server(("", 0)) as server,
    ):
        folder = Path(name)
        patch.setenv("WITNESS", str(folder / "witness"))
        patch.setenv("SERVER", str(server.getsockname()[1]))
        patch.setenv("TMPDIR", str(folder / "tmp"))
        patch.setattr(tempfile, "tempdir", str(folder / "tmp"))
        if level == namespaces.NOTHING:
            patch.setattr(runner, "SERVER", ["-c", REFUSED])
        place = Place(folder, level)
        with place.runner:
            place.canary = place.run("canary", {"python": CANARY}).stdout
            if place.runner.level != level:
                pytest.skip("this system grants no namespaces")
            yield place
        assert not place.runner.scratch.exists()


def is_reported(said: str, problem: str) -> bool:
    """Whether the report begins as one of the expected ones; an empty one passes."""
    beginnings = problem.split("|")
    return any(said.startswith(each) if each else not said for each in beginnings)


@pytest.mark.parametrize("name", BLOCKS)
def test_a_hostile_block_is_reported_and_harms_no_other(place, name):
    block = BLOCKS[name]
    problem = block.get("problem", "")
    if not place.level:
        problem = block.get("uncontained", problem)
    before = place.left()
    started = time.monotonic()
    result = place.run(name, block)
    assert time.monotonic() - started < LIMIT + MARGIN + SLACK
    assert is_reported(result.problem or "", problem), result
    canary = place.run("canary", {"python": CANARY})
    assert (canary.problem, canary.stdout) == (None, place.canary)
    deadline = time.monotonic() + SLACK
    while place.somebody_lives():
        assert time.monotonic() < deadline
        time.sleep(0.1)
    if place.level:
        assert place.left() == before
