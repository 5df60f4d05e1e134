"""torchrun-launch: real launches, their reports, and the launcher before."""

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
from torch.distributed.run import determine_local_world_size

from tests.helpers import ROOT, load_snippet, raises_as_documented

SNIPPET = "distributed/torchrun_launch.py"
PAGE = "distributed/torchrun-launch"
snippet = load_snippet(SNIPPET)

SCRIPT = str(ROOT / "snippets" / SNIPPET)
CUDA = torch.cuda.is_available()


@pytest.fixture(autouse=True)
def plain(monkeypatch):
    for name in ("RANK", "WORLD_SIZE", "LOCAL_RANK", "TORCHELASTIC_ERROR_FILE"):
        monkeypatch.delenv(name, raising=False)


def torchrun(folder: Path, *arguments) -> subprocess.CompletedProcess:
    return subprocess.run(
        [Path(sys.executable).parent / "torchrun", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONWARNINGS": "error"},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def test_options_behind_the_script_are_the_scripts(tmp_path):
    done = torchrun(
        tmp_path, "--standalone", "--nproc-per-node=2", SCRIPT, "--epochs", "3"
    )
    assert done.returncode == 0, done.stderr
    kind = "cuda" if CUDA else "cpu"
    assert sorted(done.stdout.splitlines()) == [
        f"epoch {epoch}, rank {rank} of 2 on {kind}"
        for epoch in range(3)
        for rank in range(2)
    ]


def test_the_report_names_the_error(tmp_path):
    done = torchrun(tmp_path, "--nproc-per-node=2", SCRIPT, "--epochs=0")
    assert done.returncode == 1
    report = done.stderr[done.stderr.index("ChildFailedError") :]
    root = report[report.index("Root Cause (first observed failure)") :]
    assert "exitcode  : 1" in root
    assert "ValueError: --epochs is 0, but must be 1 or more" in root
    page = (ROOT / f"docs/en/{PAGE}.md").read_text()
    quoted = re.findall(r"^```text\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    assert quoted[0] in re.sub(" +$", "", done.stderr, flags=re.MULTILINE).replace(
        SCRIPT, "torchrun_launch.py"
    )


def test_without_record_it_does_not(tmp_path):
    (tmp_path / "bare.py").write_text("raise ValueError('too few')\n")
    done = torchrun(tmp_path, "bare.py")
    report = done.stderr[done.stderr.index("ChildFailedError") :]
    assert "too few" not in report
    hint = (
        "To enable traceback see: https://pytorch.org/docs/stable/elastic/errors.html"
    )
    assert hint in report
    for lang in ("en", "zh"):
        assert hint in (ROOT / f"docs/{lang}/{PAGE}.md").read_text()


def test_plain_python_is_rank_0_of_1(capfd):
    snippet.main([])
    kind = "cuda" if CUDA else "cpu"
    assert capfd.readouterr().out.splitlines() == [
        f"epoch {epoch}, rank 0 of 1 on {kind}" for epoch in range(2)
    ]


@pytest.mark.parametrize("cuda", [True, False])
def test_place_reads_the_environment(monkeypatch, cuda):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: cuda)
    assert snippet.place() == (0, 1, torch.device("cuda:0" if cuda else "cpu"))
    for name, value in {"RANK": 5, "WORLD_SIZE": 8, "LOCAL_RANK": 1}.items():
        monkeypatch.setenv(name, str(value))
    assert snippet.place() == (5, 8, torch.device("cuda:1" if cuda else "cpu"))


@pytest.mark.parametrize("epochs", [0, -1])
def test_too_few_epochs(epochs):
    with pytest.raises(ValueError, match=f"^--epochs is {epochs}, but must be 1 or"):
        snippet.main([f"--epochs={epochs}"])


def test_one_epoch_is_enough(capfd):
    snippet.main(["--epochs=1"])
    assert len(capfd.readouterr().out.splitlines()) == 1


def test_a_rank_beyond_the_world_size(monkeypatch):
    monkeypatch.setenv("RANK", "1")  # and no WORLD_SIZE: 1
    with pytest.raises(AssertionError):
        snippet.main([])


def test_the_old_launcher_warns():
    with warnings.catch_warnings(action="error"), raises_as_documented(PAGE):
        launch.main([])


def test_the_old_launcher_passes_a_hyphen(tmp_path):
    (tmp_path / "train.py").write_text(
        "import argparse\n"
        "parser = argparse.ArgumentParser()\n"
        "parser.add_argument('--local_rank', type=int)\n"
        "parser.parse_args()\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "torch.distributed.launch", "train.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    message = "train.py: error: unrecognized arguments: --local-rank=0\n"
    assert message in done.stderr
    assert "exitcode  : 2" in done.stderr
    for lang in ("en", "zh"):
        assert message in (ROOT / f"docs/{lang}/{PAGE}.md").read_text()


@pytest.mark.skipif(CUDA, reason="wants no GPU")
def test_a_process_per_gpu_without_one():
    with raises_as_documented(PAGE):
        determine_local_world_size("gpu")


def test_a_port_that_is_taken():
    taken = dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)
    with raises_as_documented(PAGE):
        dist.TCPStore("127.0.0.1", taken.port, is_master=True)


def test_a_file_per_process_and_rank_0_on_the_screen(tmp_path):
    done = torchrun(
        tmp_path,
        "--nproc-per-node=2",
        "--log-dir=logs",
        "--tee=3",
        "--local-ranks-filter=0",
        SCRIPT,
        "--epochs=1",
    )
    assert "rank 0 of 2" in done.stdout
    assert "rank 1" not in done.stdout
    logs = sorted((tmp_path / "logs").rglob("stdout.log"))
    assert [log.read_text()[:16] for log in logs] == [
        "epoch 0, rank 0 ",
        "epoch 0, rank 1 ",
    ]
