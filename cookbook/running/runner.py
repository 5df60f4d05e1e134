"""Run blocks through the fork server and say what came of it."""

import contextlib
import json
import os
import re
import shutil
import signal
import site
import socket
import subprocess
import sys
import tempfile
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from cookbook.running.forkserver import GPU_LOG, GUARD

MOST_LANES = 8  # each holds torch, and on a GPU a context
TIMEOUT = 60.0  # seconds a block may take
NO_MODULE = re.compile(r"ModuleNotFoundError: No module named '(?P<name>[^']+)'")
NETWORK_LOG, GPU_MEMORY, TRACE_LOG = "network.log", "gpu.log", "trace.log"
END = "COOKBOOK_END"  # names the file that says that a block came to its end
TRACE = "COOKBOOK_TRACE"
TRACEBACK = "Traceback (most recent call last):"
CACHES = {"TORCH_HOME", "HF_HOME", "XDG_CACHE_HOME"}  # below HOME unless set


@dataclass(frozen=True)
class Job:
    """One distinct block: equal jobs run once, however many pages show them.

    ``argv`` is a snippet's path alone, or a command; ``files`` are copied into
    the block's working directory, which is empty otherwise.
    """

    argv: tuple[str, ...]
    files: tuple[Path, ...] = ()


@dataclass(frozen=True)
class Result:
    """What a run left: exit code (None: timed out), output, cost."""

    exit: int | None
    seconds: float
    max_rss: int  # bytes
    gpu_memory: int | None  # bytes; None where no GPU was used
    stdout: str
    stderr: str
    hosts: tuple[str, ...]  # reached for on the network, and refused
    ended: bool  # it came to its last line
    lines: frozenset[int]  # of a snippet, that the run came to
    refuted: tuple[int, ...]  # the lines of asserts that failed, noticed or not
    offline: bool  # whether the system, not Python alone, refuses the network

    @property
    def missing_package(self) -> str | None:
        """The package whose absence ended the run, None where that did not."""
        last = self.stderr.rstrip().rpartition("\n")[2]
        found = NO_MODULE.fullmatch(last)
        return found["name"] if found and self.exit else None

    @property
    def problem(self) -> str | None:
        """One line on what went wrong, or None."""
        if self.hosts:
            hosts = ", ".join(self.hosts)
            return f"needs the network ({hosts}); make its data in the snippet"
        if self.exit is None:
            return f"still running after {self.seconds:.0f} s; killed"
        if self.exit < 0:
            return f"killed by {signal_name(-self.exit)}"
        if self.missing_package:
            return f"needs {self.missing_package}, which is not installed here"
        if self.exit > 0:
            return f"exited with code {self.exit}"
        if not self.ended:
            return "left before its last line; remove what ends it"
        if self.refuted:
            lines = ", ".join(map(str, self.refuted))
            return f"an assert failed in line {lines}, and nothing came of it"
        if TRACEBACK in self.stderr:
            return "passed, but something that it started failed; see stderr"
        return None


def usable_cores() -> int:
    """The cores that this process may use: fewer than there are, in a container."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def signal_name(number: int) -> str:
    """Such as SIGSEGV; real-time signals have no name of their own."""
    names = {each.value: each.name for each in signal.Signals}
    return names.get(number, f"signal {number}")


class RunnerError(Exception):
    """The fork server could not run a block."""


class Runner:
    """A fork server and a few threads that feed it; use as a context manager."""

    def __init__(self, workers: int | None = None, timeout: float = TIMEOUT):
        self.timeout = timeout
        self.scratch = Path(tempfile.mkdtemp(prefix="cookbook-"))
        self.address = str(self.scratch / "server")
        lanes = workers or min(usable_cores(), MOST_LANES)
        self.server = self._start_server(lanes)
        self.threads = ThreadPoolExecutor(lanes)
        self.futures: dict[Job, Future[Result]] = {}

    def __enter__(self) -> "Runner":
        return self

    def __exit__(self, *exception) -> None:
        self.threads.shutdown(wait=False, cancel_futures=True)
        self.server.stdin.close()  # tells idle lanes to leave
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.server.pid, signal.SIGTERM)  # and the others
        self.server.wait()
        shutil.rmtree(self.scratch, ignore_errors=True)

    def submit(self, job: Job) -> Future[Result]:
        """Run the job, once, as soon as a worker is free."""
        if job not in self.futures:
            self.futures[job] = self.threads.submit(self._run, job)
        return self.futures[job]

    def _start_server(self, lanes: int) -> subprocess.Popen:
        """Start the server on a socket that queues until it is ready."""
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(self.address)
            listener.listen()
            argv = ["-W", "error", "-m", "cookbook.running.forkserver"]
            return subprocess.Popen(
                [sys.executable, *argv, str(listener.fileno()), str(lanes)],
                stdin=subprocess.PIPE,
                pass_fds=[listener.fileno()],
                cwd=Path(__file__).parents[2],
                start_new_session=True,  # Ctrl-C reaches it through __exit__
            )

    def _run(self, job: Job) -> Result:
        with tempfile.TemporaryDirectory(dir=self.scratch) as folder:
            logs, cwd, home = (Path(folder, name) for name in ("logs", "cwd", "home"))
            for each in (logs, cwd, home):
                each.mkdir()
            for file in job.files:
                shutil.copy(file, cwd)
            request = {
                "argv": job.argv,
                "cwd": str(cwd),
                "env": block_environment(job, logs, home),
                "stdout": str(logs / "stdout"),
                "stderr": str(logs / "stderr"),
                "end": str(logs / "end"),
                "timeout": self.timeout,
            }
            answer = self._ask(request)
            traced = read(logs / TRACE_LOG).splitlines()
            failed = {int(line.split()[1]) for line in traced if not line.isdigit()}
            return Result(
                **answer,
                gpu_memory=int(read(logs / GPU_MEMORY) or 0) or None,
                stdout=read(logs / "stdout"),
                stderr=read(logs / "stderr"),
                ended=(logs / "end").exists(),
                lines=frozenset(int(line) for line in traced if line.isdigit()),
                refuted=tuple(sorted(failed)),
                hosts=tuple(sorted(set(read(logs / NETWORK_LOG).split()))),
            )

    def _ask(self, request: dict) -> dict:
        try:
            with socket.socket(socket.AF_UNIX) as connection:
                connection.connect(self.address)
                connection.sendall(json.dumps(request).encode() + b"\n")
                return json.loads(connection.makefile().readline())
        except (OSError, json.JSONDecodeError) as error:
            raise RunnerError(
                "the fork server is gone; does `import torch` "
                "work without warnings in this environment?"
            ) from error


def block_environment(job: Job, logs: Path, home: Path) -> dict[str, str]:
    """This process's environment, with the guard and this Python in front.

    The home is empty: weights that somebody once downloaded are not found.
    """
    binaries = [str(Path(sys.executable).parent), os.environ.get("PATH", "")]
    kept = {name: os.environ[name] for name in os.environ.keys() - CACHES}
    return {
        **kept,
        "HOME": str(home),
        "PYTHONUSERBASE": site.getuserbase(),  # packages may be installed there
        "PATH": os.pathsep.join(binaries),
        "PYTHONPATH": str(GUARD.parent),
        "PYTHONWARNINGS": "error",
        "COOKBOOK_NETWORK_LOG": str(logs / NETWORK_LOG),
        GPU_LOG: str(logs / GPU_MEMORY),
        END: str(logs / "end"),
        TRACE: os.pathsep.join([job.argv[0], str(logs / TRACE_LOG)]),
    }


def read(file: Path) -> str:
    """A log's text; empty when nothing was written."""
    return file.read_text(errors="replace") if file.exists() else ""
