"""Run blocks through the fork server and say what came of it."""

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
import time
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from cookbook.running.child import END, GUARD, LOGS, PICTURE
from cookbook.running.pictures import fit

MOST_WORKERS = 8  # each holds torch, and on a GPU a context
TIMEOUT = 300.0  # seconds a block may take: torch.compile on a busy machine takes 120
STYLE = Path(__file__).with_name("matplotlibrc")
SERVER = ["-m", "cookbook.running.server"]
MARGIN = 30  # seconds beyond a block's limit until its worker is given up
MOST_SHOWN = 20_000  # characters of a stream, in a report
# A part of torch is no package: where it is missing, the release is too old.
NO_MODULE = re.compile(
    r"ModuleNotFoundError: No module named '(?!torch\.)(?P<name>[^']+)'"
)
GROUP = "a process group, whose threads still run"  # as the guard says it
# DTensor's caches keep a mesh and its group; nothing public empties them.
KEEPS_GROUP = re.compile(r"\b(fully_shard|init_device_mesh)\(")
# On stdout, in torch 2.8 to 2.10; several processes tear each other's lines.
GLOO = re.compile(r"^(\[Gloo\].*|.*connected peer ranks.*|\d*)\n", re.MULTILINE)
TRACEBACK = "Traceback (most recent call last):"
# Caches that are below the home unless set.
DROPPED = {"TORCH_HOME", "HF_HOME", "XDG_CACHE_HOME"}


@dataclass(frozen=True)
class Job:
    """One distinct block: equal jobs run once, however many pages show them.

    ``argv`` is a snippet's path alone, or a command; ``files`` are copied into
    the block's working directory, which is empty otherwise; ``warnings`` are what
    PYTHONWARNINGS says.
    """

    argv: tuple[str, ...]
    files: tuple[Path, ...] = ()
    warnings: str = "error"


@dataclass(frozen=True)
class Result:
    """What a run left: exit code (None: timed out), output, traces."""

    exit: int | None
    seconds: float  # of CPU, of all its processes
    stdout: str
    stderr: str
    hosts: tuple[str, ...]  # reached for on the network, and refused
    ended: bool  # it came to its last line
    lines: frozenset[int]  # of a snippet, that the run came to
    refuted: tuple[int, ...]  # the lines of asserts that failed, noticed or not
    left: tuple[str, ...] = ()  # processes, threads and groups that outlived it
    picture: str = ""  # that it drew under its own name, fit for a page

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
            return "still running at its time limit; killed"
        if self.exit < 0:
            return f"killed by {signal.Signals(-self.exit).name}"
        if self.missing_package:
            return f"needs {self.missing_package}, which is not installed here"
        if self.exit > 0:
            return f"exited with code {self.exit}"
        if not self.ended:
            return "left before its last line; remove what ends it"
        if self.refuted:
            lines = ", ".join(map(str, self.refuted))
            return f"an assert failed in line {lines}, and nothing came of it"
        if self.left:
            left = ", ".join(self.left)
            return f"left behind: {left}; end it before the script ends"
        if TRACEBACK in self.stderr:
            return "passed, but something that it started failed; see stderr"
        return None


def usable_cores() -> int:
    """The cores that this process may use: fewer than there are, in a container."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class RunnerError(Exception):
    """The fork server could not run a block."""


class Runner:
    """A fork server and a few threads that feed it; use as a context manager."""

    def __init__(
        self,
        workers: int | None = None,
        timeout: float = TIMEOUT,
        fresh: bool = False,
        other_torch: bool = False,
    ):
        self.timeout, self.fresh, self.other_torch = timeout, fresh, other_torch
        # Short: below it, blocks bind sockets, whose paths must fit 100 bytes.
        self.scratch = Path(tempfile.mkdtemp(prefix="cb-"))
        self.address = str(self.scratch / "server")
        self.numbers = count()
        workers = workers or min(usable_cores(), MOST_WORKERS)
        # Blocks side by side that each use every core wait for one another.
        self.share = {"OMP_NUM_THREADS": str(max(1, usable_cores() // workers))}
        self.server = subprocess.Popen(
            [sys.executable, *SERVER, self.address],
            env={
                **self.share,
                **os.environ,
                "PYTHONWARNINGS": self.warnings(Job(())),
                LOGS: "",  # each block has its own: the server notes nothing
            },
            stdin=subprocess.PIPE,
            cwd=Path(__file__).parents[2],
            start_new_session=True,  # Ctrl-C reaches it through __exit__
        )
        self.threads = ThreadPoolExecutor(workers, "cookbook-runner")
        self.futures: dict[Job, Future[Result]] = {}

    def __enter__(self) -> "Runner":
        return self

    def __exit__(self, *exception) -> None:
        self.threads.shutdown(wait=False, cancel_futures=True)
        self.server.stdin.close()  # tells the server to end all
        try:
            self.server.wait(MARGIN)
        except subprocess.TimeoutExpired:
            os.killpg(self.server.pid, signal.SIGKILL)
            self.server.wait()
        self.threads.shutdown()
        shutil.rmtree(self.scratch, ignore_errors=True)

    def warnings(self, job: Job) -> str:
        """What PYTHONWARNINGS says; what another torch leaves open is its own."""
        return job.warnings + ",ignore::ResourceWarning" * self.other_torch

    def submit(self, job: Job) -> Future[Result]:
        """Run the job, once, as soon as a worker is free."""
        if job not in self.futures:
            self.futures[job] = self.threads.submit(self.run, job)
        return self.futures[job]

    def run(self, job: Job) -> Result:
        """Run the job now, and wait for it."""
        folder = self.scratch / str(next(self.numbers))
        logs = folder / "logs"
        logs.mkdir(parents=True)
        request = {
            "argv": job.argv,
            "fresh": self.fresh or starts_fresh(job) or job.warnings != Job.warnings,
            "files": [str(file) for file in job.files],
            "env": self.environment(job, folder),
            "folder": str(folder),
            "timeout": self.timeout,
        }
        answer = self._ask(request)
        traced = read(logs / "trace.log").splitlines()
        failed = {int(line.split()[1]) for line in traced if line.startswith("failed ")}
        left = {*answer.pop("left"), *read(logs / "left.log").splitlines()}
        home = (folder / "home").glob("[!.]*")  # caches are hidden
        left |= {f"{file.name} in the home folder" for file in home}
        if KEEPS_GROUP.search(python_of(job)):
            left.discard(GROUP)
        printed = read(logs / "stdout")
        if self.other_torch:  # what that torch itself leaves and says
            left = {one for one in left if "/site-packages/torch/" not in one}
            printed = GLOO.sub("", printed) if "peer ranks" in printed else printed
        result = Result(
            **answer,
            stdout=printed,
            stderr=read(logs / "stderr"),
            picture=fit(read(logs / PICTURE)),
            ended=(logs / END).exists(),
            lines=frozenset(int(line) for line in traced if line.isdigit()),
            refuted=tuple(sorted(failed)),
            hosts=tuple(sorted(set(read(logs / "network.log").split()))),
            left=tuple(sorted(left)),
        )
        shutil.rmtree(folder, ignore_errors=True)
        return result

    def environment(self, job: Job, folder: Path) -> dict[str, str]:
        """This process's environment, with the guard and this Python in front.

        The home is empty: weights that somebody once downloaded are not found.
        """
        binaries = [str(Path(sys.executable).parent), os.environ.get("PATH", "")]
        # Of a shell block no line is asked for, and tracing slows what it starts.
        # Another torch's dynamo may not bear it.
        traced = runs_snippet(job) and not self.other_torch
        return {
            **self.share,
            **{name: os.environ[name] for name in os.environ.keys() - DROPPED},
            "HOME": str(folder / "home"),
            "TMPDIR": str(folder / "tmp"),
            # What torch.compile has built stays for others, as it does on any machine.
            "TORCHINDUCTOR_CACHE_DIR": str(self.scratch / "compiled"),
            # Packages may be installed there.
            "PYTHONUSERBASE": site.getuserbase(),
            "PATH": os.pathsep.join(binaries),
            "PYTHONPATH": str(GUARD.parent),
            "PYTHONWARNINGS": self.warnings(job),
            "PYTHONFAULTHANDLER": "1",  # a crash or a hang names its line
            "MATPLOTLIBRC": str(STYLE),
            # The list of the fonts, which takes seconds to make, is this user's.
            "MPLCONFIGDIR": str(Path.home() / ".cache/matplotlib"),
            LOGS: str(folder / "logs"),
            "COOKBOOK_TRACED": job.argv[0] if traced else "",
        }

    def _ask(self, request: dict) -> dict:
        """The server's answer.

        Raises:
            RunnerError: it is gone, or the worker that had the block is.
        """
        with socket.socket(socket.AF_UNIX) as connection:
            self._connect(connection)
            connection.settimeout(self.timeout + MARGIN)
            try:
                connection.sendall(json.dumps(request).encode() + b"\n")
                return json.loads(connection.makefile().readline())
            except (OSError, json.JSONDecodeError) as error:
                raise RunnerError("ended the process that watches it") from error

    def _connect(self, connection: socket.socket) -> None:
        while self.server.poll() is None:
            try:
                connection.connect(self.address)
            except OSError:  # it is importing torch
                time.sleep(0.05)
            else:
                return
        raise RunnerError(
            "the fork server is gone; does `import torch` work without warnings in "
            "this environment?"
        )


def python_of(job: Job) -> str:
    """The code of the snippets that a job runs, or has beside it."""
    files = [Path(job.argv[0]), *job.files]
    return "".join(read(file) for file in files if file.suffix == ".py")


def runs_snippet(job: Job) -> bool:
    """Whether it runs a Python file itself, and no command."""
    return job.argv[0].endswith(".py")


def starts_fresh(job: Job) -> bool:
    """Whether a snippet needs an interpreter of its own.

    What has been imported before its process group decides how that group ends.
    """
    return runs_snippet(job) and "torch.distributed" in python_of(job)


def read(file: Path) -> str:
    """A log's text; empty when nothing was written."""
    return file.read_bytes().decode(errors="replace") if file.exists() else ""


def shortened(text: str) -> str:
    """The end of what a block printed, if that is more than anybody reads."""
    left_out = len(text) - MOST_SHOWN
    if left_out <= 0:
        return text
    return f"[{left_out} characters left out]\n{text[-MOST_SHOWN:]}"
