"""err-corrupt-checkpoint: crafted files, and a rename that a kill cannot spoil."""

import ast
import io
import os
import pickle
import zipfile
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from tests.helpers import ROOT, load_snippet, raises_as_documented, recipes

PAGE = "errors/err-corrupt-checkpoint"
SOURCE = (ROOT / "snippets/errors/err_corrupt_checkpoint.py").read_text("utf-8")
POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n"
PAGE_OF_HTML = b"<!DOCTYPE html><html><body>Not found</body></html>"


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def saved(**options):
    """The bytes of a file of one tensor."""
    torch.save({"w": torch.arange(40000.0)}, "whole.pt", **options)
    return Path("whole.pt").read_bytes()


def load(content, weights_only=True):
    Path("model.pt").write_bytes(content)
    return torch.load("model.pt", weights_only=weights_only)


def test_what_the_snippet_prints(capsys):
    load_snippet("errors/err_corrupt_checkpoint.py")
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("RuntimeError PytorchStreamReader failed reading")
    assert [line.split()[0] for line in lines[0::2]] == [
        "RuntimeError", "UnpicklingError", "UnpicklingError", "EOFError",
    ]  # fmt: skip
    reasons = [line.partition(" ")[2] for line in lines[2::2]]
    assert reasons == ["Unsupported operand 118", "Unsupported operand 60", ""]
    looks = [line.split(" ", 1) for line in lines[1::2]]
    assert [int(size) for size, _ in looks] == [200_000, 42, 41, 0]
    begins = [b"PK\x03\x04", b"version https://git-", b"<!DOCTYPE html>", b""]
    for (_, text), begin in zip(looks, begins, strict=True):
        found = ast.literal_eval(text)
        assert found.startswith(begin)
        assert len(found) in (0, 20)


def test_the_answer_on_a_file_of_the_reader(capsys):
    answer = recipes()["err-corrupt-checkpoint"].answer
    assert set(answer.yours) == {"name"}
    for content in (POINTER, saved(), b""):
        Path("model.safetensors").write_bytes(content)
        exec(answer.text, {"name": "model.safetensors"})
        printed = capsys.readouterr().out.strip()
        assert printed == f"{len(content)} {content[:20]}"


@pytest.mark.parametrize("dies", [True, False])
def test_a_kill_while_saving_leaves_the_file_before(monkeypatch, dies):
    torch.save({"w": torch.zeros(3)}, "last.pt")
    save, weights = torch.save, {"w": torch.ones(3)}

    def killed(content, path):
        save(content, path)
        if dies:
            os.truncate(path, 100)
            raise KeyboardInterrupt

    monkeypatch.setattr(torch, "save", killed)
    lines = SOURCE[SOURCE.index('torch.save(weights, "last.tmp")') :]
    names = {"torch": torch, "Path": Path, "weights": weights}
    if dies:
        with pytest.raises(KeyboardInterrupt):
            exec(lines, names)
    else:
        exec(lines, names)
        assert not Path("last.tmp").exists()
    kept = torch.load("last.pt", weights_only=True)["w"]
    assert kept.tolist() == ([0, 0, 0] if dies else [1, 1, 1])


def test_a_zip_that_is_cut():
    for weights_only in (True, False):
        with raises_as_documented(
            PAGE,
            "RuntimeError: PytorchStreamReader failed reading zip archive: failed",
        ):
            load(saved()[:-99], weights_only)


def test_a_small_zip_that_is_cut():
    for size in (5_000, 60_000):
        with raises_as_documented(PAGE, "OSError: [Errno 22] Invalid argument"):
            load(saved()[:size])


def test_an_old_format_that_is_cut():
    old = saved(_use_new_zipfile_serialization=False)
    assert old.startswith(b"\x80\x02")
    with raises_as_documented(PAGE, "RuntimeError: unexpected EOF, expected 10"):
        load(old[:-10])
    with raises_as_documented(PAGE, "UnpicklingError: pickle data was truncated"):
        load(old[: old.index(b"FloatStorage") + 4], weights_only=False)


def test_a_pointer_and_a_web_page():
    with raises_as_documented(PAGE, "UnpicklingError: invalid load key, '<'"):
        load(PAGE_OF_HTML, weights_only=False)
    with raises_as_documented(PAGE, "UnpicklingError: invalid load key, 'v'"):
        load(POINTER, weights_only=False)
    for content, number in (PAGE_OF_HTML, 60), (POINTER, 118):
        assert content[0] == number
        with pytest.raises(pickle.UnpicklingError, match="Weights only") as caught:
            load(content)
        assert f"Unsupported operand {number}" in str(caught.value)


def test_an_empty_file():
    with raises_as_documented(PAGE, "EOFError: Ran out of input"):
        load(b"", weights_only=False)
    with pytest.raises(EOFError, match=r"^$"):
        load(b"")


def test_a_buffer_that_was_written_and_not_set_back():
    buffer = io.BytesIO()
    torch.save(torch.ones(2), buffer)
    with pytest.raises(EOFError):
        torch.load(buffer, weights_only=True)
    buffer.seek(0)
    assert torch.load(buffer, weights_only=True).tolist() == [1, 1]


def test_a_file_whose_space_was_only_reserved():
    with raises_as_documented(PAGE, "RuntimeError: Cannot use ``weights_only"):
        load(bytes(5000))


def test_what_is_no_archive():
    for content in (saved()[:10], saved()[:1000] + saved()[2000:]):
        with raises_as_documented(
            PAGE, "RuntimeError: PytorchStreamReader failed reading zip archive: not"
        ):
            load(content)


def test_damage_in_the_middle():
    whole = saved()
    spoilt = bytearray(whole)
    header = whole.index(b"PK\x03\x04", whole.index(b"data/0") - 40)
    spoilt[header : header + 4] = bytes(4)
    with raises_as_documented(
        PAGE, "RuntimeError: PytorchStreamReader failed reading file data/0"
    ):
        load(bytes(spoilt))


def test_a_file_that_is_cut_while_it_is_read():
    torch.save([torch.full((5000,), float(i)) for i in range(99)], "shared.pt")
    read = []

    def another_process_writes_it(storage, location):
        read.append(storage)
        if len(read) == 94:  # data/0 to data/93 are here
            os.truncate("shared.pt", 0)
        return storage

    with raises_as_documented(
        PAGE, "RuntimeError: PytorchStreamReader failed reading file data/94"
    ):
        torch.load(
            "shared.pt", map_location=another_process_writes_it, weights_only=True
        )
    assert len(read) == 94


def test_damaged_numbers_load_and_only_the_checksum_tells():
    whole = bytearray(saved())
    assert zipfile.ZipFile("whole.pt").testzip() is None
    whole[len(whole) // 2] ^= 255
    assert not torch.equal(load(bytes(whole))["w"], torch.arange(40000.0))
    assert zipfile.ZipFile("model.pt").testzip() == "whole/data/0"


def test_a_number_that_changed_within_an_old_file():
    torch.save(torch.arange(40.0), "old.pt", _use_new_zipfile_serialization=False)
    whole = Path("old.pt").read_bytes()
    length = b"\x28\0\0\0\0\0\0\0"  # 40, before the values
    with raises_as_documented(PAGE, "RuntimeError: storage has wrong byte size"):
        load(whole.replace(length, b"\x2c" + length[1:]))
    assert load(whole).tolist() == list(range(40))


def test_a_checkpoint_in_a_zip():
    saved()
    with zipfile.ZipFile("folder.zip", "w") as archive:
        archive.write("whole.pt", "weights/whole.pt")
    with raises_as_documented(PAGE, "RuntimeError: Expected hasRecord"):
        torch.load("folder.zip", weights_only=True)


def test_the_checksum_of_torch_hub():
    saved()
    address = Path("whole.pt").resolve().as_uri()
    with raises_as_documented(PAGE, "RuntimeError: invalid hash value"):
        torch.hub.download_url_to_file(
            address, "copy.pt", hash_prefix="abc123", progress=False
        )
    assert not Path("copy.pt").exists()


def test_safetensors():
    file = Path("model.safetensors")
    for content in (POINTER, PAGE_OF_HTML):
        file.write_bytes(content)
        with raises_as_documented(
            PAGE, "SafetensorError: Error while deserializing header: header"
        ):
            load_file(file)
    save_file({"w": torch.ones(9)}, file)
    assert file.read_bytes()[8:10] == b'{"'
    os.truncate(file, file.stat().st_size - 4)
    with raises_as_documented(
        PAGE, "SafetensorError: Error while deserializing header: incomplete"
    ):
        load_file(file)
