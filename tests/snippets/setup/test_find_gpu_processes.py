"""find-gpu-processes: a nvidia-smi of our own, and the shell block run."""

import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers import ROOT, load_snippet

SNIPPET, PAGE = "setup/find_gpu_processes.py", "setup/find-gpu-processes"
snippet = load_snippet(SNIPPET)
ANSWER = """\
GPU-a, 12, 480 MiB, python train.py, --lr 1
GPU-b, 7, [N/A], C:\\python.exe
GPU-b, 13, 20112 MiB, /usr/bin/python3
GPU-a, 14, 0 MiB, x
"""


@pytest.fixture
def nvidia_smi(tmp_path, monkeypatch):
    """Put a program of that name first on the path."""

    def install(answer: str, code: int = 0) -> Path:
        (tmp_path / "answer").write_text(answer)
        program = tmp_path / "nvidia-smi"
        script = f'echo "$@" > {tmp_path}/asked; cat {tmp_path}/answer; exit {code}'
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
        path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
        monkeypatch.setenv("PATH", path)
        return tmp_path / "asked"

    return install


def test_the_answer_is_read_and_sorted_by_memory():
    assert snippet.parse(ANSWER) == [
        ("GPU-b", 13, "20112 MiB", "/usr/bin/python3"),
        ("GPU-a", 12, "480 MiB", "python train.py, --lr 1"),  # a comma in a name
        ("GPU-a", 14, "0 MiB", "x"),
        ("GPU-b", 7, "[N/A]", "C:\\python.exe"),  # unknown comes last
    ]
    first = snippet.parse(ANSWER)[0]
    assert (first.gpu, first.pid, first.memory, first.name) == first


def test_no_process_is_no_error():
    assert snippet.parse("") == []


def test_the_driver_is_asked_for_these_fields(nvidia_smi):
    asked = nvidia_smi(ANSWER)
    assert snippet.gpu_processes() == snippet.parse(ANSWER)
    assert asked.read_text().split() == [
        "--query-compute-apps=gpu_uuid,pid,used_memory,process_name",
        "--format=csv,noheader",
    ]


def test_a_driver_that_does_not_answer_is_an_error(nvidia_smi):
    nvidia_smi("NVIDIA-SMI has failed\n", code=9)
    with pytest.raises(subprocess.CalledProcessError):
        snippet.gpu_processes()


def test_without_nvidia_smi_the_function_fails_and_the_script_says_so(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(FileNotFoundError):
        snippet.gpu_processes()
    runpy.run_path(str(ROOT / "snippets" / SNIPPET), run_name="__main__")
    assert capsys.readouterr().out.splitlines() == [
        "no nvidia-smi here; a list looks like this:",
        "GPU-66b6a70f 871 20112 MiB /usr/bin/python3",
        "GPU-c4dd6ed1 4339 480 MiB python",
    ]


def test_with_nvidia_smi_the_script_lists_what_it_says(nvidia_smi, capsys):
    nvidia_smi("GPU-a, 12, 480 MiB, python\n")
    runpy.run_path(str(ROOT / "snippets" / SNIPPET), run_name="__main__")
    assert capsys.readouterr().out == "GPU-a 12 480 MiB python\n"


def page(lang: str) -> str:
    return (ROOT / f"docs/{lang}/{PAGE}.md").read_text("utf-8")


def test_the_shell_block_shows_the_process_and_ends_it():
    english, chinese = (
        re.findall(r"^```bash\n(.*?)^```", page(lang), re.DOTALL | re.MULTILINE)
        for lang in ("en", "zh")
    )
    assert english == chinese
    end, reset = english
    assert reset == "sudo nvidia-smi --gpu-reset -i 0\n"
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", end + 'echo "ended $pid"'],
        capture_output=True,
        text=True,
        timeout=10,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    *_, shown, ended = done.stdout.splitlines()
    pid = ended.removeprefix("ended ")
    assert shown.split()[0] == pid
    assert "sleep 600" in shown
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid), 0)


HOLD = """
import signal, sys, time
signal.signal(signal.SIGTERM, lambda *_: sys.exit("saved"))
print("ready", flush=True)
time.sleep(60)
"""


@pytest.mark.parametrize(("signal", "left"), [("TERM", "saved"), ("KILL", "")])
def test_only_sigterm_leaves_time_to_clean_up(signal, left):
    with subprocess.Popen(
        [sys.executable, "-c", HOLD],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout.readline() == "ready\n"
        subprocess.run(["kill", f"-{signal}", str(process.pid)], check=True)
        assert process.communicate(timeout=10)[1].strip() == left
