"""torchrun-launch: real launches, their reports, and the launcher before."""

import json
import mmap
import os
import re
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
import torch
import torch.distributed as dist
from torch.distributed import launch
from torch.distributed.elastic.rendezvous import RendezvousParameters
from torch.distributed.elastic.rendezvous.c10d_rendezvous_backend import create_backend
from torch.distributed.run import determine_local_world_size

from tests.helpers import (
    ROOT,
    assert_documented,
    load_snippet,
    quoted,
    raises_as_documented,
)

SNIPPET = "distributed/train.py"
PAGE = "distributed/torchrun-launch"
SCRIPT = str(ROOT / "snippets" / SNIPPET)
snippet = load_snippet(SNIPPET)


@pytest.fixture(autouse=True)
def plain(monkeypatch):
    for name in ("RANK", "WORLD_SIZE", "LOCAL_RANK", "TORCHELASTIC_ERROR_FILE"):
        monkeypatch.delenv(name, raising=False)


def run(folder: Path, *command) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-m", *command],
        cwd=folder,
        env={**os.environ, "PYTHONWARNINGS": "ignore"},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def test_options_after_the_script_are_the_scripts_and_each_rank_has_its_log(
    tmp_path, monkeypatch
):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)  # if set, there is no notice
    own = ["--log-dir=logs", "--tee=3", "--local-ranks-filter=0"]
    command = ["torch.distributed.run", "--standalone", "--nproc-per-node=2", *own]
    done = run(tmp_path, *command, SCRIPT, "--epochs", "3")
    assert done.returncode == 0, done.stderr
    _, start, rest = done.stderr.partition("Setting OMP_NUM_THREADS")
    assert_documented(PAGE, "Setting OMP_NUM_THREADS", start + rest.splitlines()[0])
    assert "rank 0 of 2: 3 epochs" in done.stdout
    assert "rank 1" not in done.stdout
    logs = sorted((tmp_path / "logs").rglob("stdout.log"))
    assert [log.read_text() for log in logs] == [
        f"rank {rank} of 2: 3 epochs\n" for rank in range(2)
    ]
    for lang in ("en", "zh"):
        assert " ".join(own) in (ROOT / f"docs/{lang}/{PAGE}.md").read_text()


@pytest.mark.parametrize(("options", "epochs"), [([], 1), (["--epochs=2"], 2)])
def test_plain_python_is_rank_0_of_1(monkeypatch, capfd, options, epochs):
    monkeypatch.setattr(sys, "argv", ["train.py", *options])
    snippet.main()
    assert capfd.readouterr().out == f"rank 0 of 1: {epochs} epochs\n"


def test_options_are_checked(monkeypatch):
    """The code 2 of the page's exit codes."""
    monkeypatch.setattr(sys, "argv", ["train.py", "--epochs=two"])
    with pytest.raises(SystemExit) as caught:
        snippet.main()
    assert caught.value.code == 2


def test_the_environment_is_read(monkeypatch, capfd):
    monkeypatch.setattr(sys, "argv", ["train.py"])
    monkeypatch.setenv("RANK", "5")
    monkeypatch.setenv("WORLD_SIZE", "08")
    snippet.main()
    assert capfd.readouterr().out == "rank 5 of 8: 1 epochs\n"


def test_record_leaves_the_traceback_for_the_report(monkeypatch, tmp_path):
    file = tmp_path / "error.json"
    monkeypatch.setattr(sys, "argv", ["train.py"])
    monkeypatch.setenv("RANK", "one")
    monkeypatch.setenv("TORCHELASTIC_ERROR_FILE", str(file))
    with pytest.raises(ValueError, match="'one'"):
        snippet.main()
    message = json.loads(file.read_text())["message"]
    assert message["message"] == (
        "ValueError: invalid literal for int() with base 10: 'one'"
    )
    assert "in main" in message["extraInfo"]["py_callstack"]


def test_without_record_the_report_does_not_say_what_went_wrong(tmp_path):
    (tmp_path / "train.py").write_text("raise ValueError('too few')\n")
    done = run(tmp_path, "torch.distributed.run", "train.py")
    page = (ROOT / f"docs/en/{PAGE}.md").read_text()
    quoted = re.findall(r"^```text\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    assert quoted[0] in re.sub(" +$", "", done.stderr, flags=re.MULTILINE)
    report = done.stderr[done.stderr.index("ChildFailedError") :]
    root = report[report.index("Root Cause (first observed failure)") :]
    assert "exitcode  : 1" in root
    assert "too few" not in report
    hint = (
        "To enable traceback see: https://pytorch.org/docs/stable/elastic/errors.html"
    )
    assert hint in report
    for lang in ("en", "zh"):
        assert hint in (ROOT / f"docs/{lang}/{PAGE}.md").read_text()


def test_the_old_launcher_warns():
    with (
        warnings.catch_warnings(action="error"),
        raises_as_documented(
            PAGE, "FutureWarning: The module torch.distributed.launch"
        ),
    ):
        launch.main([])


def test_the_old_launcher_passes_a_hyphen(tmp_path):
    (tmp_path / "train.py").write_text(
        "import argparse\n"
        "parser = argparse.ArgumentParser()\n"
        "parser.add_argument('--local_rank', type=int)\n"
        "parser.parse_args()\n"
    )
    done = run(tmp_path, "torch.distributed.launch", "train.py")
    message = "train.py: error: unrecognized arguments: --local-rank=0\n"
    assert message in done.stderr
    assert "exitcode  : 2" in done.stderr
    for lang in ("en", "zh"):
        assert message in (ROOT / f"docs/{lang}/{PAGE}.md").read_text()


@pytest.mark.skipif(torch.cuda.is_available(), reason="wants no GPU")
def test_a_process_per_gpu_without_one():
    with raises_as_documented(PAGE, "ValueError: Cuda is not"):
        determine_local_world_size("gpu")


def test_a_port_that_is_taken():
    taken = dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)
    with raises_as_documented(PAGE, "DistNetworkError: The server socket"):
        dist.TCPStore("127.0.0.1", taken.port, is_master=True)


@pytest.mark.skipif(sys.platform == "win32", reason="cannot open the store there")
def test_torchrun_wants_libuv_whatever_the_environment_says(monkeypatch):
    """So the variable that the message names is no cure on Windows."""
    monkeypatch.setenv("USE_LIBUV", "0")
    port = dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False).port
    parameters = RendezvousParameters("c10d", f"127.0.0.1:{port}", "test", 1, 1)
    backend, _ = create_backend(parameters)
    assert backend._store.libuvBackend
    message = quoted(PAGE, "use_libuv was requested")
    library = Path(torch.__file__).parent / "lib/libtorch_cpu.so"
    with (
        library.open("rb") as file,
        mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as binary,
    ):
        assert binary.find(message.encode()) > 0
