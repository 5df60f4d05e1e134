"""inspect-checkpoint: the file against the model it came from, and what goes wrong."""

import pytest
import torch
from torch import nn

from tests.helpers import load_snippet, raises_as_documented, recipes

PAGE = "models/inspect-checkpoint"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_what_is_printed_and_written(folder, capsys):
    snippet = load_snippet("models/inspect_checkpoint.py")
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "epoch model_state_dict optimizer_state_dict"
    original = snippet.model.state_dict()
    assert [line.split()[0] for line in lines[1:-1]] == list(original)
    assert lines[1].split(maxsplit=1)[1].split() == ["(256,", "256)", "torch.float32"]
    assert lines[-2].split() == ["1.num_batches_tracked", "()", "torch.int64"]

    written = torch.load(folder / "weights.pt", weights_only=True)
    assert written.keys() == original.keys()
    for name, tensor in original.items():
        whole = name.endswith("tracked")
        assert written[name].dtype == (torch.int64 if whole else torch.bfloat16)
        found = written[name].to(tensor.dtype)
        torch.testing.assert_close(found, tensor, rtol=2**-8, atol=0)
    assert written["1.num_batches_tracked"] == 1
    assert torch.load(folder / "last.pt")["epoch"] == 3

    model = nn.Sequential(nn.Linear(256, 256), nn.BatchNorm1d(256))
    model.load_state_dict(written)  # float32 stays
    assert model[0].weight.dtype == torch.float32
    assert torch.equal(model[0].weight, original["0.weight"].bfloat16().float())


def test_the_answer_looks_and_changes_nothing(folder, capsys):
    model = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3)).bfloat16()
    torch.save({"model_state_dict": model.state_dict()}, "mine.pth")
    before = (folder / "mine.pth").read_bytes()
    answer = recipes()["inspect-checkpoint"].answer
    names = {"path": "mine.pth"}
    exec(answer.text, names)
    assert (folder / "mine.pth").read_bytes() == before
    assert [path.name for path in folder.iterdir()] == ["mine.pth"]
    torch.testing.assert_close(names["weights"], model.state_dict())
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[1:]] == list(model.state_dict())
    assert lines[1].endswith("(3, 2)     torch.bfloat16")


def test_a_file_that_is_the_state_dict_itself(capsys):
    model = nn.Linear(2, 3)
    torch.save(model.state_dict(), "mine.pth")
    names = {"path": "mine.pth"}
    exec(recipes()["inspect-checkpoint"].answer.text, names)
    torch.testing.assert_close(names["weights"], model.state_dict())
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "weight bias"
    assert [line.split()[0] for line in lines[1:]] == ["weight", "bias"]


def test_the_sizes_of_the_page(folder):
    load_snippet("models/inspect_checkpoint.py")
    checkpoint = torch.load("last.pt", weights_only=True)
    torch.save(checkpoint["model_state_dict"], "float32.pt")
    last, float32, half = (
        (folder / name).stat().st_size
        for name in ("last.pt", "float32.pt", "weights.pt")
    )
    assert last / float32 == pytest.approx(3, rel=0.05)
    assert last / half == pytest.approx(6, rel=0.05)


def test_other_names_and_other_objects():
    answer, names = recipes()["inspect-checkpoint"].answer.text, {"path": "last.pt"}
    weights = nn.Linear(2, 2).state_dict()
    torch.save({"epoch": 3, "state_dict": weights}, "last.pt")
    with raises_as_documented(PAGE, "AttributeError: 'int' object has no"):
        exec(answer, names)
    torch.save({"state_dict": weights}, "last.pt")
    with pytest.raises(AttributeError, match=r"'collections\.OrderedDict' object"):
        exec(answer, names)
    assert '"model_state_dict"' in answer
    exec(answer.replace('"model_state_dict"', '"state_dict"'), names)
    torch.testing.assert_close(names["weights"], weights)
    torch.save(nn.Sequential(nn.Linear(2, 2)), "last.pt")
    with raises_as_documented(PAGE, "UnpicklingError: Weights only load failed."):
        torch.load("last.pt", map_location="cpu", weights_only=True)
    unsafe = torch.serialization.get_unsafe_globals_in_checkpoint("last.pt")
    assert "torch.nn.modules.linear.Linear" in unsafe


def test_slices_tied_weights_and_meta(folder):
    weight = torch.rand(1000, 100)

    def size(what):
        torch.save(what, "x.pt")
        return (folder / "x.pt").stat().st_size

    assert size(weight[:10]) > 100 * size(weight[:10].clone()) / 6
    tied = {"a": weight, "b": weight}
    converted = {name: t.bfloat16() for name, t in tied.items()}
    assert size(converted) == pytest.approx(size(tied), rel=0.01)
    model = nn.Sequential(nn.Embedding(1000, 100), nn.Linear(100, 1000, bias=False))
    model[1].weight = model[0].weight
    whole = size(model.state_dict())
    assert size(model.bfloat16().state_dict()) == pytest.approx(whole / 2, rel=0.02)

    size({"w": weight})
    shapes = torch.load("x.pt", map_location="meta", weights_only=True)
    assert shapes["w"].is_meta
    assert shapes["w"].shape == (1000, 100)
    assert size(shapes) < 5000


def test_float16_overflows_where_bfloat16_does_not():
    x = torch.tensor([65_504.0, 65_520.0])
    assert x.half().tolist() == [65_504, torch.inf]
    assert x.bfloat16().isfinite().all()
