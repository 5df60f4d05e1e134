"""A block runs as ``python file.py`` would, alone, and can harm no other."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cookbook.running.runner import Job, Runner, RunnerError, shortened

# Each ending, the problem it is reported as, and what stderr says of it.
ENDINGS = {
    "assert 1 + 1 == 3, 'sums'": ("exited with code 1", "AssertionError: sums"),
    "x = (": ("exited with code 1", "SyntaxError: '(' was never closed"),
    "import sys; sys.exit('no data')": ("exited with code 1", "no data\n"),
    "raise KeyboardInterrupt": ("exited with code 1", "KeyboardInterrupt"),
    "import os; os._exit(7)": ("exited with code 7", ""),
    "import os; os.kill(os.getpid(), 9)": ("killed by SIGKILL", ""),
    "import ctypes; ctypes.string_at(0)": ("killed by SIGSEGV", ", line 1 in <module>"),
    "import warnings; warnings.warn('old', DeprecationWarning)": (
        "exited with code 1",
        "DeprecationWarning: old",
    ),
    "f = open(__file__)": ("exited with code 1", "ResourceWarning: unclosed file"),
}


@pytest.mark.parametrize(("source", "ending"), ENDINGS.items())
def test_a_bad_ending_is_reported_and_harms_no_other_block(run, source, ending):
    problem, stderr = ending
    result = run(source)
    assert result.problem == problem
    assert stderr in result.stderr
    assert run("print('unharmed')").stdout == "unharmed\n"


def test_a_traceback_begins_in_the_snippet(run):
    lines = run("def f():\n    raise ValueError('no')\n\nf()\n").stderr.splitlines()
    assert lines[0] == "Traceback (most recent call last):"
    assert lines[1].endswith('snippet_1.py", line 4, in <module>')
    assert lines[3].endswith('snippet_1.py", line 2, in f')
    assert lines[-1] == "ValueError: no"


def test_a_block_is_what_a_script_is(run, tmp_path):
    source = """
        import os, sys
        print(__name__, __file__, __doc__, __spec__, __package__, sys.argv)
        print(sys.modules["__main__"].__dict__ is globals(), sys.path[0])
        print(sys.stdin.read() == "", os.getpid() == os.getpgrp())
        print(sys.flags.dont_write_bytecode, sys.flags.optimize)
    """
    result = run(source)
    script = subprocess.run(
        [sys.executable, tmp_path / "snippet_1.py"],
        stdin=subprocess.DEVNULL,
        start_new_session=True,
        capture_output=True,
        text=True,
        check=True,
    )
    assert result.problem is None
    assert result.stdout == script.stdout


def test_source_pickles_and_spawned_workers_find_the_block(run):
    source = """
        import inspect
        import multiprocessing
        import pickle

        class Box:
            pass

        def double(x):
            return 2 * x

        if __name__ == "__main__":
            assert isinstance(pickle.loads(pickle.dumps(Box())), Box)
            assert inspect.getsource(double).endswith("return 2 * x\\n")
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                print(pool.map(double, [1, 2]))
    """
    result = run(source)
    assert (result.problem, result.stdout) == (None, "[2, 4]\n"), result.stderr


def test_an_ordinary_end_waits_for_threads_and_runs_exit_handlers(run):
    source = """
        import atexit, threading, time
        atexit.register(print, "handler")
        threading.Thread(target=lambda: (time.sleep(0.1), print("thread"))).start()
        print("main")
    """
    assert run(source).stdout == "main\nthread\nhandler\n"


def test_nothing_a_block_sets_reaches_the_next(run):
    state = """
        import os, random, sys, warnings
        import numpy as np
        import torch

        def state():
            return (
                torch.get_default_dtype(), torch.get_default_device(),
                torch.initial_seed(), torch.rand(2).tolist(),
                torch.get_num_threads(), torch.is_grad_enabled(),
                torch.are_deterministic_algorithms_enabled(), warnings.filters[:3],
                sorted(set(os.environ) - {"PYTEST_CURRENT_TEST"}),
                sys.path[1:], sorted(sys.modules), os.umask(0o22), torch.nn.Linear,
            )
    """
    clean = f"{state}\n        print(state())"
    dirty = f"""{state}
        before = state()
        torch.set_default_dtype(torch.float64)
        torch.set_default_device("meta")
        torch.manual_seed(1)
        np.random.seed(1)
        torch.set_num_threads(torch.get_num_threads() + 1)
        torch.set_grad_enabled(False)
        torch.use_deterministic_algorithms(True)
        warnings.simplefilter("ignore")
        os.environ["LEAK"] = "1"
        os.chdir("/")
        sys.path.append("/leak")
        sys.modules["leak"] = sys
        os.umask(0)
        torch.nn.Linear = None
    """
    before, fault, after = run(clean), run(dirty), run(clean)
    assert fault.problem is None, fault.stderr
    assert before.problem is None, before.stderr
    assert "torch.float32, device(type='cpu')" in before.stdout
    assert after.stdout == before.stdout


CLAIM = "def claim():\n    assert 1 + 1 == 3, 'sums'\n\n"
HIDDEN = {
    "in a spawned child": "import multiprocessing\n"
    "if __name__ == '__main__':\n"
    "    child = multiprocessing.get_context('spawn').Process(target=claim)\n"
    "    child.start(); child.join()\n",
    "swallowed": "try:\n    claim()\nexcept Exception:\n    pass\n",
}


@pytest.mark.parametrize("how", HIDDEN.values(), ids=HIDDEN)
def test_a_claim_that_fails_where_nobody_looks_fails_the_block(run, how):
    result = run(CLAIM + how)
    assert result.exit == 0
    assert result.problem.startswith("an assert failed in line 2, and nothing came")


def test_a_traceback_of_what_a_block_started_fails_it(run):
    source = """
        import threading
        thread = threading.Thread(target=lambda: 1 / 0)
        thread.start()
        thread.join()
    """
    assert run(source).problem.startswith("passed, but something that it started")


def test_the_lines_that_ran_are_known(run):
    source = CLAIM + "if 1 + 1 == 3:\n    claim()\nx = (\n    1\n)\n"
    lines = run(source).lines
    assert lines == {1, 4, 6, 7}


def test_shell_lines_that_leave_early_have_proved_nothing(runner):
    lines = 'echo half\nexec true\nfalse\n: > "$COOKBOOK_LOGS/end"\n'
    result = runner.submit(Job(("bash", "-euo", "pipefail", "-c", lines))).result()
    assert result.problem.startswith("left before its last line")


class Witness:
    """A pipe that a block's processes hold open for as long as they live."""

    def __init__(self, path: Path):
        self.path, self.heard = path, b""
        os.mkfifo(path)
        self.reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)

    def is_alone(self) -> bool:
        """Whether all who held it open are gone; keeps what they wrote."""
        try:
            while heard := os.read(self.reader, 1000):
                self.heard += heard
        except BlockingIOError:  # somebody could still write
            return False
        return True


@pytest.fixture
def witness(tmp_path):
    witness = Witness(tmp_path / "witness")
    yield witness
    os.close(witness.reader)


def test_blocks_that_set_no_seed_draw_different_numbers(run):
    source = "import random, numpy; print(random.random(), numpy.random.rand())"
    first, second = (run(source).stdout.split() for _ in range(2))
    assert first[0] != second[0]
    assert first[1] != second[1]


def test_a_hang_is_killed_with_all_its_children(run, runner, monkeypatch, witness):
    monkeypatch.setattr(runner, "timeout", 2)
    source = f"""
        import os, signal, subprocess, time
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        pipe = os.open({str(witness.path)!r}, os.O_WRONLY)
        subprocess.Popen(["sleep", "60"], pass_fds=[pipe])
        subprocess.Popen(["sleep", "60"], pass_fds=[pipe], start_new_session=True)
        os.write(pipe, b"up")
        time.sleep(60)
    """
    result = run(source)
    assert result.problem == "still running at its time limit; killed"
    assert 'snippet_1.py", line 8 in <module>' in result.stderr
    assert (witness.is_alone(), witness.heard) == (True, b"up")
    assert run("print('unharmed')").stdout == "unharmed\n"


# Every way out; the address is reserved for documentation, so nobody answers.
WAYS_OUT = {
    "look-up": "socket.getaddrinfo('example.org', 80)",
    "old look-up": "socket.gethostbyname('example.org')",
    "connection": "socket.create_connection(('192.0.2.1', 80), timeout=0.1)",
    "IPv6": "socket.socket(socket.AF_INET6).connect(('2001:db8::1', 80))",
    "datagram": "socket.socket(type=socket.SOCK_DGRAM).sendto(b'', ('192.0.2.1', 9))",
    "message": "socket.socket(type=2).sendmsg([b''], [], 0, ('192.0.2.1', 9))",
    "cleared environment": "os.environ.clear(); socket.gethostbyname('192.0.2.1')",
    "another Python": "subprocess.run([sys.executable, '-c', 'import socket; "
    'socket.gethostbyname("192.0.2.1")\'], check=True, capture_output=True)',
}


@pytest.mark.parametrize("call", WAYS_OUT.values(), ids=WAYS_OUT)
def test_a_block_that_needs_the_network_fails_even_if_it_hides_it(run, call):
    source = f"""
        import contextlib, os, socket, subprocess, sys
        with contextlib.suppress(Exception):
            {call}
        print("hidden")
    """
    result = run(source)
    assert result.stdout == "hidden\n", result.stderr
    (host,) = result.hosts
    assert host in ("example.org", "192.0.2.1", "2001:db8::1")
    assert result.problem == f"needs the network ({host}); make its data in the snippet"


def test_the_error_of_a_block_that_needs_the_network_says_so(run):
    result = run("import socket\nsocket.gethostbyname('example.org')")
    assert "no network in recipes: tried to reach example.org" in result.stderr


def test_a_block_begins_in_empty_folders_of_its_own(run, runner, monkeypatch):
    """What was once downloaded to the home must not be found."""
    monkeypatch.setenv("TORCH_HOME", "/elsewhere")
    result = run("""
        import os, tempfile
        from pathlib import Path

        print(os.listdir(), os.listdir(Path.home()), os.environ.get("TORCH_HOME"))
        for folder in (Path.cwd(), Path.home(), Path(tempfile.mkdtemp())):
            Path(folder, "file").write_text("x")
        print(tempfile.gettempdir() == os.environ["TMPDIR"])
    """)
    assert result.stdout == "[] [] None\nTrue\n", result.stderr
    left = {path.name for path in runner.scratch.iterdir()}
    assert left == {"compiled", "server"}  # torch.compile's work is shared


LEFT = {
    "a process": (
        "os.posix_spawnp('sleep', ['sleep', '60'], os.environ, setsid=True)\n",
        "sleep 60",
    ),
    "a file": ("open(os.path.expanduser('~/x'), 'w').close()", "x in the home folder"),
    "a thread": (
        "threading.Thread(target=lambda: time.sleep(60), daemon=True).start()\n",
        "the thread 'Thread-1 (<lambda>)', at line 2",
    ),
    "a process group": (
        "import torch.distributed as dist\n"
        "dist.init_process_group('gloo', store=dist.HashStore(), rank=0, world_size=1)",
        "a process group, whose threads still run",
    ),
}


@pytest.mark.parametrize("what", LEFT)
def test_what_a_block_leaves_running_is_refused(run, what):
    lines, named = LEFT[what]
    result = run(f"import os, threading, time\n{lines}")
    assert result.problem == f"left behind: {named}; end it before the script ends"


def test_the_cpu_time_of_all_processes_counts_and_waiting_does_not(run):
    spin = "import time\nwhile time.process_time() < 0.5: pass"
    result = run(f"""
        import subprocess, sys, time
        subprocess.run([sys.executable, "-c", {spin!r}], check=True)
        time.sleep(1)
    """)
    assert 0.5 <= result.seconds < 1.2


def test_a_snippet_of_distributed_runs_in_a_new_interpreter(run):
    source = "import sys; print('torch' in sys.modules, sys.flags.no_site)"
    assert run(source).stdout == "True 0\n"
    assert run(f"{source}\n# torch.distributed").stdout == "False 0\n"


def test_of_much_output_the_end_is_kept(run):
    shown = shortened(run("for n in range(200_000): print(n)").stdout).splitlines()
    assert shown[0] == "[1268890 characters left out]"
    assert shown[-200:] == [str(n) for n in range(199_800, 200_000)]


def test_leaving_the_runner_kills_what_still_runs(tmp_path, witness):
    script = tmp_path / "hang.py"
    script.write_text(
        "import os, subprocess, time\n"
        f"pipe = os.open({str(witness.path)!r}, os.O_WRONLY)\n"
        "sleep = ['sleep', '300']\n"
        "subprocess.Popen(sleep, pass_fds=[pipe], start_new_session=True)\n"
        "os.write(pipe, b'up')\n"
        "time.sleep(300)\n"
    )
    with Runner(workers=1, timeout=300) as runner:
        runner.submit(Job((str(script),)))
        deadline = time.monotonic() + 120
        while witness.is_alone() or witness.heard != b"up":
            assert time.monotonic() < deadline
            time.sleep(0.02)
        started = time.monotonic()
    assert time.monotonic() - started < 30
    assert witness.is_alone()


def test_a_server_that_is_gone_is_said_to_be(tmp_path):
    with Runner(workers=1) as runner:
        os.killpg(runner.server.pid, signal.SIGKILL)
        future = runner.submit(Job((str(tmp_path / "any.py"),)))
        with pytest.raises(RunnerError, match="the fork server is gone; does `import"):
            future.result(timeout=60)
