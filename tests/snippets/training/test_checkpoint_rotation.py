"""checkpoint-rotation: which files stay, and what a broken write leaves."""

from pathlib import Path

import pytest
import torch

from tests.helpers import load_snippet, raises_as_documented, recipes

PAGE = "training/checkpoint-rotation"
ANSWER = recipes()["checkpoint-rotation"].answer
rotation = load_snippet("training/checkpoint_rotation.py")


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_the_newest_stay_beyond_a_new_number_of_digits(tmp_path):
    """The answer as it is pasted, with a folder that does not exist yet."""
    folder = tmp_path / "new" / "folder"
    pasted = {"states": {"step": 8}, "folder": folder}
    assert set(ANSWER.yours) == set(pasted)
    exec(ANSWER.text, pasted)
    assert names(folder) == ["step00000008.pt"]
    for step in (9, 10, 99, 100):
        pasted["save_rotating"]({"step": step}, folder)
    assert names(folder) == [f"step{step:08}.pt" for step in (10, 99, 100)]
    assert torch.load(folder / "step00000100.pt")["step"] == 100
    pasted["save_rotating"]({"step": 101}, str(folder), keep=1)
    assert names(folder) == ["step00000101.pt"]


def test_other_files_stay(tmp_path):
    (tmp_path / "best.pt").touch()
    for step in range(5):
        rotation.save_rotating({"step": step}, tmp_path, keep=2)
    assert names(tmp_path) == ["best.pt", "step00000003.pt", "step00000004.pt"]


def test_keep_0_keeps_all(tmp_path):
    for step in range(5):
        rotation.save_rotating({"step": step}, tmp_path, keep=0)
    assert len(names(tmp_path)) == 5


def test_writes_that_break_off_leave_the_old_files_and_one_more(tmp_path, monkeypatch):
    for step in (1, 2):
        rotation.save_rotating({"step": step}, tmp_path, keep=2)

    def half(checkpoint, path):
        Path(path).write_bytes(b"PK")
        raise OSError("disk full")

    with monkeypatch.context() as patch:
        patch.setattr(torch, "save", half)
        for step in (3, 4, 5):
            with pytest.raises(OSError, match="disk full"):
                rotation.save_rotating({"step": step}, tmp_path, keep=2)
    assert names(tmp_path) == ["step.tmp", "step00000001.pt", "step00000002.pt"]
    rotation.save_rotating({"step": 6}, tmp_path, keep=2)
    assert names(tmp_path) == ["step00000002.pt", "step00000006.pt"]


def test_beside_files_of_later_steps_it_saves_deletes_none_and_says_so(
    tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    for step in (200, 300):
        rotation.save_rotating({"step": step}, "checkpoints", keep=2)
    with raises_as_documented(PAGE, "RuntimeError: checkpoints/step00000300.pt is"):
        rotation.save_rotating({"step": 100}, "checkpoints", keep=2)
    saved = [f"step00000{step}.pt" for step in (100, 200, 300)]
    assert names(tmp_path / "checkpoints") == saved
    rotation.save_rotating({"step": 300}, "checkpoints", keep=2)  # once more
    assert names(tmp_path / "checkpoints") == saved[1:]


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="a device of Linux")
def test_a_full_disk():
    states = {"weight": torch.zeros(1_000_000)}
    with raises_as_documented(PAGE, "OSError: [Errno 28]"):
        torch.save(states, "/dev/full", _use_new_zipfile_serialization=False)
    with pytest.raises(RuntimeError, match="unexpected pos"):
        torch.save(states, "/dev/full")
