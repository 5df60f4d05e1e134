"""What opens a process group lets it go: no thread of gloo is left when Python ends.

One that is left may ask for Python's lock while Python ends, and abort it.
"""

import re

import pytest

from tests.helpers import ROOT, run_python

OPENS = re.compile(r"\b(init_process_group|init_device_mesh)\(")
SNIPPETS = sorted(
    path
    for path in (ROOT / "snippets").rglob("*.py")
    if OPENS.search(path.read_text("utf-8"))
)
# Caches of DTensor, which nothing public empties, keep the mesh and with it the group.
KEPT = {"distributed_checkpoint", "fsdp2", "tensor_parallel"}

# Python imports it before the script, in every process that it starts.
LOOK = """
import atexit, os
from pathlib import Path

def look():
    names = [n.read_text().strip() for n in Path("/proc/self").glob("task/*/comm")]
    left = sorted(name for name in names if "gloo" in name)
    with open(os.environ["LOOK"], "a") as file:
        file.write(f"{left}\\n")

atexit.register(look)
"""


def left(folder, *command: str) -> list[str]:
    """The threads of gloo in each process of a command, as its exit begins."""
    (folder / "sitecustomize.py").write_text(LOOK)
    noted = folder / "left"
    run = run_python(
        *command,
        folder=folder,
        PYTHONPATH=str(folder),
        LOOK=str(noted),
        OMP_NUM_THREADS="1",
        CUDA_VISIBLE_DEVICES="",
    )
    assert run.returncode == 0, run.stderr
    return noted.read_text().splitlines()


@pytest.fixture(autouse=True)
def plain(monkeypatch):
    for name in ("RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize("path", SNIPPETS, ids=lambda path: path.stem)
def test_no_thread_is_left(path, tmp_path):
    """Plain Python, which starts two processes itself or is one."""
    ends = left(tmp_path, str(path))
    if path.stem in KEPT:
        assert any(end != "[]" for end in ends), "let go by now: remove it from KEPT"
    else:
        assert set(ends) == {"[]"}


def test_two_processes_under_torchrun(tmp_path):
    script = str(ROOT / "snippets/distributed/ddp_single_node.py")
    options = ["--standalone", "--nproc-per-node=2", script]
    ends = left(tmp_path, "-m", "torch.distributed.run", *options)
    assert len(ends) >= 3  # torchrun's own process, too
    assert set(ends) == {"[]"}


def test_without_the_line_threads_are_left(tmp_path):
    """So that the tests above can fail."""
    source = (ROOT / "snippets/distributed/ddp_no_sync.py").read_text("utf-8")
    line = next(x for x in source.splitlines(True) if "torch.distributed.nn" in x)
    (tmp_path / "script.py").write_text(source.replace(line, ""))
    (end,) = left(tmp_path, "script.py")
    assert "gloo" in end
