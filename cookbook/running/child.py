"""A block's own process: a fork of the server, or a new one for what must start fresh.

python child.py SNIPPET
"""

import atexit
import builtins
import faulthandler
import getpass
import os
import random
import resource
import runpy
import shutil
import sys
import tempfile
import threading
import types
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

GUARD = Path(__file__).parent / "guard" / "sitecustomize.py"
LOGS = "COOKBOOK_LOGS"  # names the folder for what a run leaves behind
END, PICTURE = "end", "picture.svg"  # there: it came to its end; what it drew
MAX_FILE_BYTES = 1 << 30
MAX_DATA_BYTES = 4 << 30  # private memory of one process
unraisable: list[type] = []


def run(request: dict) -> None:
    """Become the block that was asked for."""
    enter(request)
    argv = request["argv"]
    if not argv[0].endswith(".py"):
        os.execvpe(argv[0], argv, os.environ)
    if request["fresh"]:
        os.execve(sys.executable, [sys.executable, __file__, *argv], os.environ)
    guard = runpy.run_path(str(GUARD))
    faulthandler.enable()  # a crash or a hang names its line
    random.seed()  # every fork would draw the server's numbers
    sys.modules["numpy"].random.seed()
    code = run_as_main(argv[0])
    exit_now(code, guard["note_left"])


def enter(request: dict) -> None:
    """Give this process the block's session, streams, folders and limits."""
    os.setsid()
    folder = Path(request["folder"])
    for name in ("cwd", "home", "tmp"):
        (folder / name).mkdir()
    for descriptor, path, mode in (
        (0, Path(os.devnull), "rb"),
        (1, folder / "logs/stdout", "wb"),
        (2, folder / "logs/stderr", "wb"),
    ):
        with path.open(mode) as stream:
            os.dup2(stream.fileno(), descriptor)
    for file in request["files"]:
        shutil.copy(file, folder / "cwd")
    os.chdir(folder / "cwd")
    os.environ.clear()
    os.environ.update(request["env"])
    tempfile.tempdir = None  # the server's
    share_headers(folder)
    limit(resource.RLIMIT_CORE, 0)
    limit(resource.RLIMIT_FSIZE, MAX_FILE_BYTES)
    if not Path("/dev/nvidiactl").exists():  # CUDA maps more than it uses
        limit(resource.RLIMIT_DATA, MAX_DATA_BYTES)


def share_headers(folder: Path) -> None:
    """What torch.compile builds first lies below TMPDIR, wherever its cache is."""
    compiled = Path(os.environ["TORCHINDUCTOR_CACHE_DIR"])
    compiled.mkdir(exist_ok=True)
    with suppress(KeyError, OSError):  # a user without a name builds them anew
        (folder / "tmp" / f"torchinductor_{getpass.getuser()}").symlink_to(compiled)


def limit(what: int, most: int) -> None:
    """Lower one of this process's limits, which may be lower already."""
    _, hard = resource.getrlimit(what)
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(what, (most, most))


def run_as_main(script: str) -> int:
    """Execute a file as ``python script`` would, in this process; its exit code."""
    main = types.ModuleType("__main__")
    main.__dict__.update(__file__=script, __builtins__=builtins)
    sys.modules["__main__"] = main
    sys.argv[:] = [script]
    sys.path[0] = str(Path(script).parent)
    sys.unraisablehook = note_unraisable
    try:
        exec(compile(Path(script).read_bytes(), script, "exec"), main.__dict__)
    except SystemExit as leave:
        return exit_code(leave)
    except BaseException as error:
        own = error.__traceback__.tb_next  # without this frame
        sys.excepthook(type(error), error.with_traceback(own), own)
        return 1
    logs, picture = Path(os.environ[LOGS]), Path(script).with_suffix(".svg").name
    (logs / END).touch()
    if Path(picture).is_file():
        shutil.copy(picture, logs / PICTURE)
    return 0


def exit_code(leave: SystemExit) -> int:
    """The process's exit code for ``sys.exit(x)``; a message goes to stderr."""
    if leave.code is None:
        return 0
    if isinstance(leave.code, int):
        return leave.code
    print(leave.code, file=sys.stderr)
    return 1


def exit_now(code: int, note_left: Callable[[], None]) -> None:
    """Leave as the interpreter does, except for its last step.

    Tearing down every module of torch takes a forked process a second, which
    a new interpreter would not spend.
    """
    sys.settrace(None)
    threading._shutdown()  # waits for threads that are not daemons
    atexit._run_exitfuncs()
    note_left()
    sys.modules["__main__"].__dict__.clear()  # finds files left open
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code or int(bool(unraisable)))


def note_unraisable(error: object) -> None:
    """Hook: an error in a finalizer, such as a file never closed, counts too."""
    sys.__unraisablehook__(error)
    unraisable.append(error.exc_type)


if __name__ == "__main__":
    sys.exit(run_as_main(sys.argv[1]))
