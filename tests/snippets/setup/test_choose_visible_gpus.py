"""choose-visible-gpus: torch's own reading of the variable, on four fake GPUs."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from tests.helpers import ROOT, TORCH_CUDA, lacking, load_snippet, quoted

SNIPPET, PAGE = "setup/choose_visible_gpus.py", "setup/choose-visible-gpus"
UUIDS = ["GPU-a1", "GPU-a2", "GPU-b3", "GPU-c4"]  # of the physical GPUs 0 to 3


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
    monkeypatch.setattr(cuda, "_raw_device_uuid_nvml", lambda: UUIDS)


def visible() -> list[int]:
    """The physical GPUs that torch counts, as it reads the variable."""
    order = torch.cuda._parse_visible_devices()
    if order and isinstance(order[0], str):
        order = torch.cuda._transform_uuid_to_ordinals(order, UUIDS)
    return list(order)[: torch.cuda.device_count()]


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
    assert visible() == seen


def test_hip_wins_on_rocm(four_gpus, monkeypatch):
    monkeypatch.setattr(torch.version, "hip", "7.0")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
    assert torch.cuda._parse_visible_devices() == [0]
    monkeypatch.setenv("HIP_VISIBLE_DEVICES", "2,3")
    assert torch.cuda._parse_visible_devices() == [2, 3]


def test_the_script_shows_itself_two_of_four_gpus(four_gpus, capsys):
    load_snippet(SNIPPET)
    assert capsys.readouterr().out == "visible GPUs: 2\n"


def test_a_misspelt_variable_hides_nothing(four_gpus, monkeypatch):
    for name in ("CUDA_VIDIBLE_DEVICES", "cuda_visible_devices"):
        monkeypatch.setenv(name, "1")
    assert torch.cuda.device_count() == 4


def test_a_setting_that_comes_too_late_fails(four_gpus, monkeypatch):
    # Once CUDA runs, torch keeps the count of that moment.
    monkeypatch.setattr(torch.cuda, "_cached_device_count", 4)
    with pytest.raises(AssertionError):
        load_snippet(SNIPPET)


TELL = "import os; print(os.environ.get('CUDA_VISIBLE_DEVICES'))\n"


def page(lang: str) -> str:
    return (ROOT / f"docs/{lang}/{PAGE}.md").read_text("utf-8")


def shell(command: str, cwd: Path) -> subprocess.CompletedProcess:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    env = {**os.environ, "PATH": path, "LC_ALL": "C"}
    env.pop("CUDA_VISIBLE_DEVICES", None)
    return subprocess.run(
        ["bash", "-c", command],
        cwd=cwd,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_commands_on_the_page_reach_the_process_and_keep_the_script(tmp_path):
    (tmp_path / "train.py").write_text(TELL)
    english, chinese = (
        re.findall(r"^```bash\n(.*?)^```", page(lang), re.DOTALL | re.MULTILINE)
        for lang in ("en", "zh")
    )
    assert english == chinese
    assert len(english) == 1
    done = shell(f"{english[0]}\npython train.py", tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["0,1", "-1", "None"]
    assert (tmp_path / "train.py").read_text() == TELL


def test_an_exported_variable_holds_for_all_commands(tmp_path):
    (tmp_path / "train.py").write_text(TELL)
    command = "export CUDA_VISIBLE_DEVICES=0,1"
    assert f"`{command}`" in page("en")
    done = shell(f"{command}; python train.py; python train.py", tmp_path)
    assert done.stdout.split() == ["0,1", "0,1"]


@pytest.mark.parametrize("setting", ["CUDA_VISIBLE_DEVICES = 0,1", "{} =0,1"])
def test_spaces_make_it_a_command(tmp_path, setting):
    done = shell(setting.format("CUDA_VISIBLE_DEVICES") + " python x.py", tmp_path)
    assert done.returncode == 127
    message = done.stderr.strip().replace("line 1: ", "")
    for lang in ("en", "zh"):
        assert f"```text\n{message}\n```" in page(lang)


@pytest.mark.parametrize(
    ("setting", "message"),
    [("= 0,1", "0,1: command not found"), ("=0, 1", "1: command not found")],
)
def test_a_space_elsewhere_makes_the_rest_a_command(tmp_path, setting, message):
    done = shell(f"CUDA_VISIBLE_DEVICES{setting} python x.py", tmp_path)
    assert done.returncode == 127
    assert done.stderr.strip().endswith(f": {message}")
    assert all(f"`{message}`" in page(lang) for lang in ("en", "zh"))


@pytest.mark.skipif(torch.version.cuda is None, reason="not a CUDA build")
def test_what_cuda_calls_a_wrong_number():
    """Raising it takes a GPU."""
    cudart = torch._C._cudart
    text = cudart.cudaGetErrorString(cudart.cudaError(101))
    assert quoted(PAGE, f"AcceleratorError: CUDA error: {text}")


@pytest.mark.skipif(torch.version.cuda is None, reason="not a CUDA build")
def test_torch_counts_anew_what_cuda_counted_once(four_gpus, monkeypatch):
    """Without a GPU, CUDA's part is the assertion in the library."""
    for setting, count in (("0", 1), ("0,1", 2)):
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", setting)
        assert torch.cuda.device_count() == count
    text = "device >= 0 && device < num_gpus INTERNAL ASSERT FAILED"
    assert not lacking(TORCH_CUDA, text)
    assert all(f"`{text}`" in page(lang) for lang in ("en", "zh"))
