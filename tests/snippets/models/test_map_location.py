"""map-location: files whose storages are tagged with GPUs that are not there."""

import pickle

import pytest
import torch
from torch import nn

from tests.helpers import (
    ROOT,
    load_snippet,
    raises_as_documented,
    run_on,
)

PAGE = "models/map-location"
SOURCE = (ROOT / "snippets/models/map_location.py").read_text("utf-8")
LINES = compile(SOURCE[SOURCE.index("weights =") :].split("\n\n")[0], PAGE, "exec")


def build():
    return nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3), nn.Linear(3, 2))


def load(model, device):
    """The snippet's own lines, on another model and device."""
    names = {"torch": torch, "model": model, "device": device}
    exec(LINES, names)
    return names["weights"]


@pytest.fixture
def trained():
    return build()


@pytest.fixture
def saved(trained, tmp_path, monkeypatch):
    """Save the weights in the current folder as a GPU would; return the path."""
    monkeypatch.chdir(tmp_path)

    def save(location="cuda:1"):
        with monkeypatch.context() as patch:
            patch.setattr(torch.serialization, "location_tag", lambda _: location)
            torch.save(trained.state_dict(), "weights.pt")
        return "weights.pt"

    return save


@pytest.fixture
def one_gpu(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)


@pytest.fixture
def no_gpu(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)


@pytest.mark.parametrize("location", ["cpu", "cuda:0", "cuda:1", "cuda:7"])
def test_weights_from_any_gpu_load_on_the_cpu(trained, saved, location):
    saved(location)
    model = build()
    weights = load(model, torch.device("cpu"))
    for key, value in trained.state_dict().items():
        assert weights[key].device.type == "cpu"
        assert model.state_dict()[key].device.type == "cpu"
        assert torch.equal(model.state_dict()[key], value)


@pytest.mark.parametrize("device", ["meta", torch.device("meta")])
def test_the_model_goes_to_the_device(saved, device):
    saved()
    model = build()
    load(model, device)
    assert {value.device.type for value in model.state_dict().values()} == {"meta"}


@pytest.mark.usefixtures("no_gpu")
def test_the_file_itself(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(torch.serialization, "location_tag", lambda _: "cuda:1")
    snippet = load_snippet("models/map_location.py")
    assert snippet.device == torch.device("cpu")
    assert torch.equal(snippet.model.bias, snippet.trained.bias)
    assert torch.equal(snippet.weights["bias"], snippet.trained.bias)


def test_the_gpu_is_taken_where_there_is_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(RuntimeError, match="meta tensor; no data"):
        run_on("meta", "models/map_location.py", monkeypatch)


def test_an_optimizer_made_before_keeps_its_parameters(saved):
    saved()
    model = build()
    before = list(model.parameters())
    load(model, "cpu")
    for old, new in zip(before, model.parameters(), strict=True):
        assert old is new
        assert new.requires_grad


def test_other_architectures_and_whole_models_are_refused(saved):
    saved()
    with pytest.raises(RuntimeError, match="Missing key"):
        load(nn.Sequential(*build(), nn.Linear(2, 2)), "cpu")
    with pytest.raises(RuntimeError, match="Unexpected key"):
        load(build()[:2], "cpu")
    torch.save(build(), "weights.pt")
    with raises_as_documented(PAGE, "UnpicklingError: Weights only load") as caught:
        load(build(), "cpu")
    assert caught.type is pickle.UnpicklingError
    assert "Sequential" in str(caught.value)  # "the message names it"


def test_a_whole_checkpoint_holds_the_weights_under_a_key(trained, saved):
    path = saved()
    state = {"model_state_dict": trained.state_dict(), "optimizer_state_dict": {}}
    torch.save(state, path)
    model = build()
    with pytest.raises(RuntimeError, match="Unexpected key") as caught:
        load(model, "cpu")
    assert '"model_state_dict", "optimizer_state_dict"' in str(caught.value)
    weights = torch.load(path, map_location="cpu", weights_only=True)
    model.load_state_dict(weights["model_state_dict"])
    assert torch.equal(model[0].weight, trained[0].weight)


@pytest.mark.usefixtures("no_gpu")
@pytest.mark.parametrize("location", ["cuda:0", "cuda:1"])
def test_without_map_location_a_machine_without_gpu_refuses(saved, location):
    with raises_as_documented(
        PAGE, "RuntimeError: Attempting to deserialize object on a"
    ):
        torch.load(saved(location), weights_only=True)


@pytest.mark.usefixtures("one_gpu")
def test_a_gpu_that_this_machine_lacks(saved):
    with raises_as_documented(
        PAGE, "RuntimeError: Attempting to deserialize object on CUDA"
    ) as caught:
        torch.load(saved("cuda:1"), weights_only=True)
    assert "CUDA device 1 but torch.cuda.device_count() is 1" in str(caught.value)


@pytest.mark.usefixtures("no_gpu")
def test_a_dict_renames_only_the_tags_it_lists(saved):
    path = saved("cuda:1")
    weights = torch.load(path, map_location={"cuda:1": "cpu"}, weights_only=True)
    assert {value.device.type for value in weights.values()} == {"cpu"}
    for table in {"cuda:0": "cpu"}, {"cuda": "cpu"}:
        with raises_as_documented(
            PAGE, "RuntimeError: Attempting to deserialize object on a"
        ):
            torch.load(path, map_location=table, weights_only=True)


def test_the_lambda_is_an_old_spelling_of_cpu(trained, saved):
    path = saved()
    old = torch.load(path, map_location=lambda s, location: s, weights_only=True)
    assert old["0.weight"].device.type == "cpu"
    assert torch.equal(old["0.weight"], trained[0].weight)


def test_a_device_that_is_none(saved):
    with raises_as_documented(PAGE, "RuntimeError: don't know how"):
        torch.load(saved(), map_location="gpu", weights_only=True)


def test_map_location_places_the_tensors_and_not_the_model(trained, saved):
    saved("cpu")
    model = build().to(torch.float64)
    weights = load(model, "cpu")  # values only: place and dtype stay
    assert model[0].weight.dtype == torch.float64

    empty = build().to("meta")
    with pytest.warns(UserWarning, match="no-op"):
        empty.load_state_dict(weights)
    assert {value.device.type for value in empty.parameters()} == {"meta"}
    empty.load_state_dict(weights, assign=True)
    assert empty[0].weight.device.type == "cpu"
    assert empty[0].weight.requires_grad
    assert empty[0].weight.data_ptr() == weights["0.weight"].data_ptr()


def test_only_names_and_shapes_without_reading_data(trained, saved):
    weights = torch.load(saved(), map_location="meta", weights_only=True)
    for key, value in trained.state_dict().items():
        assert weights[key].device.type == "meta"
        assert weights[key].shape == value.shape


def test_mmap(trained, saved):
    path = saved()
    weights = torch.load(path, map_location="cpu", weights_only=True, mmap=True)
    assert torch.equal(weights["0.weight"], trained[0].weight)


def test_the_state_of_an_optimizer_follows_its_parameters():
    layer = nn.Linear(2, 2)
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1, momentum=0.9)
    layer(torch.ones(1, 2)).sum().backward()
    optimizer.step()
    moved = nn.Linear(2, 2, device="meta")
    other = torch.optim.SGD(moved.parameters(), lr=0.1, momentum=0.9)
    other.load_state_dict(optimizer.state_dict())
    buffers = [state["momentum_buffer"] for state in other.state.values()]
    assert {buffer.device.type for buffer in buffers} == {"meta"}
    assert len(buffers) == 2
