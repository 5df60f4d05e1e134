"""checkpoint-rotation: which files stay, what a kill leaves, and going on from it."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import torch

from tests.helpers import load_snippet, raises_as_documented

PAGE = "training/checkpoint-rotation"
snippet = load_snippet("training/checkpoint_rotation.py")


@pytest.fixture(autouse=True)
def handler():
    before = signal.getsignal(signal.SIGTERM)
    yield
    signal.signal(signal.SIGTERM, before)


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def batches(step):
    x = torch.full((4, 1), step / 100)
    return x, 3 * x


def stopped_in(at):
    def stop(step):
        if step == at:
            kill = threading.Thread(target=os.kill, args=(os.getpid(), signal.SIGTERM))
            kill.start()
            kill.join()
        return batches(step)

    return stop


def by_hand(steps):
    torch.manual_seed(1)
    model = torch.nn.Linear(1, 1)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    for step in range(1, steps + 1):
        x, y = batches(step)
        optimizer.zero_grad()
        (model(x) - y).square().mean().backward()
        optimizer.step()
    return model.state_dict()


def test_the_newest_stay_beyond_a_new_number_of_digits(tmp_path):
    for step in (8, 9, 10, 99, 100):
        snippet.save_rotating({"step": step}, tmp_path / "new" / "folder")
    folder = tmp_path / "new" / "folder"
    assert names(folder) == [f"step{step:08}.pt" for step in (10, 99, 100)]
    assert torch.load(folder / "step00000100.pt")["step"] == 100
    snippet.save_rotating({"step": 101}, str(folder), keep=1)
    assert names(folder) == ["step00000101.pt"]


def test_other_files_stay(tmp_path):
    (tmp_path / "best.pt").touch()
    for step in range(5):
        snippet.save_rotating({"step": step}, tmp_path, keep=2)
    assert names(tmp_path) == ["best.pt", "step00000003.pt", "step00000004.pt"]


def test_a_write_that_breaks_off_leaves_the_old_files(tmp_path, monkeypatch):
    for step in (1, 2):
        snippet.save_rotating({"step": step}, tmp_path, keep=2)

    def half(checkpoint, path):
        Path(path).write_bytes(b"PK")
        raise OSError("disk full")

    monkeypatch.setattr(torch, "save", half)
    with pytest.raises(OSError, match="disk full"):
        snippet.save_rotating({"step": 3}, tmp_path, keep=2)
    assert sorted(tmp_path.glob("step*.pt")) == [
        tmp_path / "step00000001.pt",
        tmp_path / "step00000002.pt",
    ]


def test_files_of_later_steps_count_as_newest(tmp_path):
    for step in (200, 300, 100):
        snippet.save_rotating({"step": step}, tmp_path, keep=2)
    assert names(tmp_path) == ["step00000200.pt", "step00000300.pt"]


def test_it_stops_saves_and_goes_on_to_the_same_weights(tmp_path, capsys):
    torch.manual_seed(1)
    snippet.train(stopped_in(47), 100, folder=tmp_path)
    assert names(tmp_path) == [f"step{step:08}.pt" for step in (30, 40, 47)]
    assert capsys.readouterr().out.split() == names(tmp_path)
    saved = torch.load(tmp_path / "step00000047.pt")
    torch.testing.assert_close(saved["model_state_dict"], by_hand(47))
    assert saved["optimizer_state_dict"]["state"][0]["step"] == 47

    seen = []
    snippet.train(lambda step: seen.append(step) or batches(step), 95, folder=tmp_path)
    assert seen == list(range(48, 96))
    assert names(tmp_path) == [f"step{step:08}.pt" for step in (80, 90, 95)]
    saved = torch.load(tmp_path / "step00000095.pt")
    torch.testing.assert_close(saved["model_state_dict"], by_hand(95))


def test_its_data_stop_the_job_once():
    came = []
    signal.signal(signal.SIGTERM, lambda *_: came.append(True))
    for step in (46, 47, 48):
        x, y = snippet.batches(step)
        assert torch.equal(x, torch.ones(4, 1))
        assert torch.equal(x, y)
        assert len(came) == (step > 46)


def test_not_in_another_thread(tmp_path):
    def enter():
        with raises_as_documented(PAGE, "ValueError: signal only works"):
            snippet.train(batches, 1, folder=tmp_path)
        done.append(True)

    done = []
    thread = threading.Thread(target=enter)
    thread.start()
    thread.join()
    assert done


def test_a_shell_that_waits_keeps_the_signal():
    code = "import os, time; print(os.getpid(), flush=True); time.sleep(60)"
    child = f'{sys.executable} -S -c "{code}"'
    for command, gets_it in ((f"{child}; true", False), (f"exec {child}", True)):
        with subprocess.Popen(
            ["bash", "-c", command], stdout=subprocess.PIPE, text=True
        ) as shell:
            python = int(shell.stdout.readline())
            shell.terminate()
            assert shell.wait() == -signal.SIGTERM
            assert (python == shell.pid) is gets_it
            if not gets_it:
                os.kill(python, signal.SIGKILL)  # it is still there
