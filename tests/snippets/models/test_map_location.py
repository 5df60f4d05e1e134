"""map-location: files whose storages are tagged with GPUs that are not there."""

import pickle
import zipfile

import pytest
import torch
from torch import nn

from tests.helpers import load_snippet, raises_as_documented

load_weights = load_snippet("models/map_location.py").load_weights
PAGE = "models/map-location"


def tag(path, location):
    """Rewrite a file of CPU tensors as if it had been saved on a GPU."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w") as archive:  # stored, not compressed
        for name, data in members.items():
            if name.endswith("/data.pkl"):
                old = b"X\x03\x00\x00\x00cpu"  # pickle: a string, its length
                assert data.count(old) == 1
                new = b"X" + len(location).to_bytes(4, "little") + location.encode()
                data = data.replace(old, new)
            archive.writestr(name, data)


@pytest.fixture
def trained():
    return nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3), nn.Linear(3, 2))


@pytest.fixture
def saved(trained, tmp_path):
    """Save the weights as a GPU would, and give back the path."""

    def save(location="cuda:1"):
        path = tmp_path / "weights.pt"
        torch.save(trained.state_dict(), path)
        tag(path, location)
        return path

    return save


@pytest.fixture
def one_gpu(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)


@pytest.fixture
def no_gpu(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)


def build():
    return nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3), nn.Linear(3, 2))


@pytest.mark.parametrize("location", ["cpu", "cuda:0", "cuda:1", "cuda:7"])
@pytest.mark.parametrize("kind", [str, lambda path: path], ids=["str", "Path"])
def test_weights_from_any_gpu_load_on_the_cpu(trained, saved, location, kind):
    model = build()
    assert load_weights(model, kind(saved(location)), "cpu") is model
    for key, value in trained.state_dict().items():
        loaded = model.state_dict()[key]
        assert loaded.device.type == "cpu"
        assert torch.equal(loaded, value)


@pytest.mark.parametrize("device", ["meta", torch.device("meta")])
def test_the_model_goes_to_the_device(saved, device):
    model = load_weights(build(), saved(), device)
    assert {value.device.type for value in model.state_dict().values()} == {"meta"}


def test_an_optimizer_made_before_keeps_its_parameters(saved):
    model = build()
    before = list(model.parameters())
    load_weights(model, saved(), "cpu")
    for old, new in zip(before, model.parameters(), strict=True):
        assert old is new
        assert new.requires_grad


def test_other_architectures_and_whole_models_are_refused(tmp_path, saved):
    with pytest.raises(RuntimeError, match="Missing key"):
        load_weights(nn.Sequential(*build(), nn.Linear(2, 2)), saved(), "cpu")
    with pytest.raises(RuntimeError, match="Unexpected key"):
        load_weights(build()[:2], saved(), "cpu")
    torch.save(build(), tmp_path / "model.pt")
    with pytest.raises(pickle.UnpicklingError, match="Weights only load failed"):
        load_weights(build(), tmp_path / "model.pt", "cpu")
    with raises_as_documented(PAGE):
        load_weights(build(), tmp_path / "model.pt", "cpu")


@pytest.mark.usefixtures("no_gpu")
@pytest.mark.parametrize("location", ["cuda:0", "cuda:1"])
def test_without_map_location_a_machine_without_gpu_refuses(saved, location):
    with raises_as_documented(PAGE):
        torch.load(saved(location), weights_only=True)


@pytest.mark.usefixtures("one_gpu")
def test_a_gpu_that_this_machine_lacks(saved):
    with raises_as_documented(PAGE) as caught:
        torch.load(saved("cuda:1"), weights_only=True)
    assert "CUDA device 1 but torch.cuda.device_count() is 1" in str(caught.value)


@pytest.mark.usefixtures("no_gpu")
def test_a_dict_renames_only_the_tags_it_lists(saved):
    path = saved("cuda:1")
    weights = torch.load(path, map_location={"cuda:1": "cpu"}, weights_only=True)
    assert {value.device.type for value in weights.values()} == {"cpu"}
    for table in {"cuda:0": "cpu"}, {"cuda": "cpu"}:
        with raises_as_documented(PAGE):
            torch.load(path, map_location=table, weights_only=True)


def test_a_function_sees_the_storage_on_the_cpu_and_its_tag(trained, saved):
    calls = []

    def route(storage, location):
        calls.append((storage.device.type, location))
        return storage

    weights = torch.load(saved(), map_location=route, weights_only=True)
    assert set(calls) == {("cpu", "cuda:1")}
    assert len(calls) == len(trained.state_dict())
    assert torch.equal(weights["0.weight"], trained[0].weight)


def test_a_device_that_is_none(saved):
    with raises_as_documented(PAGE):
        torch.load(saved(), map_location="gpu", weights_only=True)


def test_map_location_places_the_tensors_and_not_the_model(trained, tmp_path):
    path = tmp_path / "weights.pt"
    torch.save(trained.state_dict(), path)
    model = build().to(torch.float64)
    weights = torch.load(path, map_location="cpu", weights_only=True)
    model.load_state_dict(weights)  # values only: place and dtype stay
    assert model[0].weight.dtype == torch.float64

    empty = build().to("meta")
    with pytest.warns(UserWarning, match="no-op"):
        empty.load_state_dict(weights)
    assert {value.device.type for value in empty.parameters()} == {"meta"}
    empty.load_state_dict(weights, assign=True)
    assert empty[0].weight.device.type == "cpu"
    assert empty[0].weight.requires_grad
    assert empty[0].weight.data_ptr() == weights["0.weight"].data_ptr()


def test_assign_leaves_buffers_outside_the_state_dict_on_meta():
    with torch.device("meta"):
        empty = nn.Linear(2, 2)
        empty.register_buffer("scale", torch.ones(1), persistent=False)
    empty.load_state_dict(nn.Linear(2, 2).state_dict(), assign=True)
    assert empty.weight.device.type == "cpu"
    assert empty.scale.device.type == "meta"


def test_only_names_and_shapes_without_reading_data(trained, saved):
    weights = torch.load(saved(), map_location="meta", weights_only=True)
    for key, value in trained.state_dict().items():
        assert weights[key].device.type == "meta"
        assert weights[key].shape == value.shape


def test_mmap_is_for_zip_files(trained, tmp_path):
    path = tmp_path / "weights.pt"
    torch.save(trained.state_dict(), path)
    weights = torch.load(path, map_location="cpu", weights_only=True, mmap=True)
    assert torch.equal(weights["0.weight"], trained[0].weight)
    torch.save(trained.state_dict(), path, _use_new_zipfile_serialization=False)
    with pytest.raises(RuntimeError, match="mmap can only be used with files saved"):
        torch.load(path, map_location="cpu", weights_only=True, mmap=True)
    load_weights(build(), path, "cpu")  # which the snippet still reads


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
