"""choose-visible-gpus: torch's own reading of the variable, on four fake GPUs."""

import os
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from tests.helpers import ROOT, load_snippet

SNIPPET = ROOT / "snippets/setup/choose_visible_gpus.py"
UUIDS = ["a1", "a2", "b3", "c4"]  # of the physical GPUs 0 to 3
snippet = load_snippet("setup/choose_visible_gpus.py")


@pytest.fixture
def four_gpus(monkeypatch):
    """Let torch find four GPUs, and number those that the variable leaves."""
    for name in ("CUDA", "HIP", "ROCR"):
        monkeypatch.delenv(f"{name}_VISIBLE_DEVICES", raising=False)
    cuda = torch.cuda
    monkeypatch.setattr(torch.version, "hip", None)
    monkeypatch.setattr(cuda, "_is_compiled", lambda: True)
    monkeypatch.setattr(cuda, "_initialized", False)
    monkeypatch.setattr(cuda, "_cached_device_count", None)
    monkeypatch.setattr(cuda, "_raw_device_count_nvml", lambda: len(UUIDS))
    uuids = [f"GPU-{uuid}" for uuid in UUIDS]
    monkeypatch.setattr(cuda, "_raw_device_uuid_nvml", lambda: uuids)

    def get_device_properties(index):
        order = cuda._parse_visible_devices()
        if order and isinstance(order[0], str):
            order = cuda._transform_uuid_to_ordinals(order, uuids)
        physical = order[index]
        return SimpleNamespace(name=f"Card {physical}", uuid=UUIDS[physical])

    monkeypatch.setattr(cuda, "get_device_properties", get_device_properties)


def physical(gpus: list[str]) -> list[int]:
    return [UUIDS.index(gpu.split(", GPU-")[1]) for gpu in gpus]


@pytest.mark.parametrize(
    ("setting", "seen"),
    [
        ("0,1", [0, 1]),
        ("0,3", [0, 3]),  # 3 becomes cuda:1
        ("3,0", [3, 0]),  # 3 becomes cuda:0
        ("0,9,1", [0]),  # stops at the first that is no GPU
        ("2,2", []),  # given twice
        ("", []),
        ("-1", []),
        ("0，1", [0]),  # a full-width comma
        ("GPU-b3", [2]),
        ("GPU-b,GPU-a1", [2, 0]),  # enough of the UUID to be unique
        ("GPU-a", []),  # not unique
        ("1,GPU-b3", [1]),  # do not mix
    ],
)
def test_what_a_setting_leaves_and_in_which_order(
    four_gpus, monkeypatch, setting, seen
):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", setting)
    assert physical(snippet.visible_gpus()) == seen


def test_hip_wins_on_rocm(four_gpus, monkeypatch):
    monkeypatch.setattr(torch.version, "hip", "7.0")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
    assert torch.cuda._parse_visible_devices() == [0]
    monkeypatch.setenv("HIP_VISIBLE_DEVICES", "2,3")
    assert torch.cuda._parse_visible_devices() == [2, 3]


def test_the_report_names_the_cards(four_gpus, monkeypatch, capsys):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3,0")
    runpy.run_path(str(SNIPPET), run_name="__main__")
    assert capsys.readouterr().out.splitlines() == [
        "CUDA_VISIBLE_DEVICES=3,0",
        "cuda:0 is Card 3, GPU-c4",
        "cuda:1 is Card 0, GPU-a1",
    ]


def test_a_misspelt_variable_hides_nothing_and_shows_as_unset(
    four_gpus, monkeypatch, capsys
):
    for name in ("CUDA_VIDIBLE_DEVICES", "cuda_visible_devices"):
        monkeypatch.setenv(name, "1")
    runpy.run_path(str(SNIPPET), run_name="__main__")
    heading, *cards = capsys.readouterr().out.splitlines()
    assert heading == "CUDA_VISIBLE_DEVICES is not set"
    assert len(cards) == 4


def test_a_setting_that_came_too_late_fails(four_gpus, monkeypatch):
    # Once CUDA runs, torch keeps the count of that moment.
    monkeypatch.setattr(torch.cuda, "_cached_device_count", 4)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0,1")
    monkeypatch.setattr(
        torch.cuda,
        "get_device_properties",
        lambda index: SimpleNamespace(name="Card", uuid=UUIDS[index]),
    )
    with pytest.raises(AssertionError):
        runpy.run_path(str(SNIPPET), run_name="__main__")


def page(lang: str) -> str:
    return (ROOT / f"docs/{lang}/setup/choose-visible-gpus.md").read_text("utf-8")


def shell(command: str, cwd: Path) -> subprocess.CompletedProcess:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "-c", command],
        cwd=cwd,
        env={**os.environ, "PATH": path, "LC_ALL": "C"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_command_on_the_page_reaches_the_process(tmp_path):
    shutil.copy(SNIPPET, tmp_path)
    english, chinese = (
        re.findall(r"^```bash\n(.*?)^```", page(lang), re.DOTALL | re.MULTILINE)
        for lang in ("en", "zh")
    )
    assert english == chinese
    assert len(english) == 1
    done = shell(english[0], tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("CUDA_VISIBLE_DEVICES=0,1\n")


@pytest.mark.parametrize("setting", ["CUDA_VISIBLE_DEVICES = 0,1", "{} =0,1"])
def test_spaces_make_it_a_command(tmp_path, setting):
    done = shell(setting.format("CUDA_VISIBLE_DEVICES") + " python x.py", tmp_path)
    assert done.returncode == 127
    message = done.stderr.strip().replace("line 1: ", "")
    for lang in ("en", "zh"):
        assert f"```text\n{message}\n```" in page(lang)
