"""strip-module-prefix: keys and values from the real wrappers of torch."""

import re

import pytest
import torch
from torch import nn
from torch.nn.modules.utils import consume_prefix_in_state_dict_if_present as consume
from torch.nn.parallel import DistributedDataParallel
from torch.optim.swa_utils import AveragedModel

from tests.helpers import ROOT, load_snippet, raises_as_documented

PAGE = "models/strip-module-prefix"
SOURCE = (ROOT / "snippets/models/strip_module_prefix.py").read_text("utf-8")
LINES = compile(SOURCE[SOURCE.index("bare =") :].split("\n\n")[0], PAGE, "exec")
# Two pages more read and write weights in the reader's folder.
OTHERS = ("models/map_location", "models/load_partial_weights")


@pytest.fixture
def snippet(tmp_path, monkeypatch):
    """The file, run where its weights seem to come from a second GPU."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(torch.serialization, "location_tag", lambda _: "cuda:1")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    return load_snippet("models/strip_module_prefix.py")


def build():
    submodule = nn.ModuleDict({"submodule": nn.Linear(4, 2)})
    return nn.ModuleDict({"encoder": submodule, "norm": nn.BatchNorm1d(2)})


def load(model, weights):
    """The snippet's own lines, on another model and other weights."""
    names = {"re": re, "model": model, "weights": weights}
    exec(LINES, names)
    return names["bare"]


WRAPPERS = {
    "bare": lambda model: model,
    "DataParallel": nn.DataParallel,
    "DDP": DistributedDataParallel,
    "compile": torch.compile,
    "DataParallel(compile)": lambda model: nn.DataParallel(torch.compile(model)),
    "compile(DataParallel)": lambda model: torch.compile(nn.DataParallel(model)),
    "compile(DDP)": lambda model: torch.compile(DistributedDataParallel(model)),
    "twice": lambda model: nn.DataParallel(nn.DataParallel(model)),
}


@pytest.mark.usefixtures("group")
@pytest.mark.parametrize("wrap", WRAPPERS.values(), ids=WRAPPERS)
def test_weights_of_every_wrapper_load_strictly(wrap):
    trained, model = build(), build()
    weights = wrap(trained).state_dict()
    before = list(weights)
    bare = load(model, weights)
    assert list(weights) == before
    assert list(bare) == list(trained.state_dict())
    for key, value in trained.state_dict().items():
        assert torch.equal(model.state_dict()[key], value.cpu())


def test_the_file_itself(snippet):
    assert list(snippet.weights) == ["module.weight", "module.bias"]
    assert list(snippet.bare) == ["weight", "bias"]
    saved = snippet.wrapped.module
    assert torch.equal(snippet.model.weight, saved.weight.cpu())
    assert torch.equal(snippet.model.bias, saved.bias.cpu())
    assert {value.device.type for value in snippet.weights.values()} == {"cpu"}


def test_loading_is_strict():
    model = nn.Linear(4, 2)
    for weights in {"module.weight": model.weight}, {"x": torch.ones(1)}:
        with pytest.raises(RuntimeError, match="Missing key"):
            load(model, weights)


def test_the_prefixes_are_those_of_torch():
    layer = nn.Linear(1, 1, bias=False)
    assert list(nn.DataParallel(layer).state_dict()) == ["module.weight"]
    assert list(torch.compile(layer).state_dict()) == ["_orig_mod.weight"]
    in_place = nn.Linear(1, 1)
    in_place.compile()
    assert list(in_place.state_dict()) == ["weight", "bias"]


def test_only_whole_prefixes_at_the_front_are_cut():
    model = nn.Module()
    keys = ["modules_a", "a_module_b", "_orig_modx", "xmodule", "module", "_orig_mod"]
    for key in keys:
        model.register_buffer(key, torch.ones(1))
    for inner in "a", "_orig_modx_":  # names with a dot, of children
        model.add_module(inner, nn.ModuleDict({"module": nn.Linear(1, 1)}))
    own = list(model.state_dict())
    assert list(load(model, model.state_dict())) == own
    wrapped = {f"module.{key}": value for key, value in model.state_dict().items()}
    assert list(load(model, wrapped)) == own


def test_a_layer_that_is_really_called_module_is_noticed():
    model = nn.ModuleDict({"module": nn.Linear(1, 1)})
    with pytest.raises(RuntimeError, match=r'Missing key\(s\).*"module.weight"'):
        load(model, model.state_dict())


def test_the_ways_that_spoil_keys():
    assert "encoder.weight"[7:] == ".weight"
    assert "module.encoder.submodule.weight".replace("module.", "") == (
        "encoder.subweight"
    )
    assert "module.model.weight".lstrip("module.") == "weight"


def test_a_whole_checkpoint():
    trained, model = nn.Linear(4, 2), nn.Linear(4, 2)
    state = nn.DataParallel(trained).state_dict()
    checkpoint = {"epoch": 3, "model_state_dict": state}
    unexpected = r'Unexpected key\(s\) in state_dict: "epoch", "model_state_dict"'
    with pytest.raises(RuntimeError, match=unexpected):
        load(model, checkpoint)
    load(model, checkpoint["model_state_dict"])
    assert torch.equal(model.weight, trained.weight)


@pytest.mark.parametrize("wrap", [nn.DataParallel, torch.compile])
def test_bare_weights_into_a_wrapped_model(wrap):
    trained, wrapped = nn.Linear(4, 2), wrap(nn.Linear(4, 2))
    with pytest.raises(RuntimeError, match=r"Missing key.*(module|_orig_mod)\.weight"):
        wrapped.load_state_dict(trained.state_dict())
    inner = wrapped.module if wrap is nn.DataParallel else wrapped._orig_mod
    inner.load_state_dict(trained.state_dict())
    assert torch.equal(next(wrapped.parameters()), trained.weight)


def test_strict_false_loads_nothing():
    trained, model = nn.Linear(4, 2), nn.Linear(4, 2)
    before = model.weight.tolist()
    wrapped = nn.DataParallel(trained).state_dict()
    report = model.load_state_dict(wrapped, strict=False)
    assert report.missing_keys == ["weight", "bias"]
    assert model.weight.tolist() == before


def test_a_moving_average_brings_its_counter():
    model = nn.Linear(4, 2)
    weights = AveragedModel(model).state_dict()
    with raises_as_documented(
        PAGE,
        "RuntimeError: Error(s) in loading state_dict for Linear:\n\tUnexpected key(s)",
    ) as caught:
        load(model, weights)
    assert 'Unexpected key(s) in state_dict: "n_averaged"' in str(caught.value)
    weights.pop("n_averaged")
    load(model, weights)


def test_the_variants():
    model = build()
    wrapped = nn.DataParallel(model)
    assert wrapped.module is model
    assert torch.compile(model)._orig_mod is model
    weights = wrapped.state_dict()
    assert "module.a".removeprefix("module.") == "a"
    consume(weights, "module.")
    assert list(weights) == list(model.state_dict())

    model = nn.Sequential(nn.Linear(4, 2))
    own = list(model.state_dict())
    model[0] = torch.compile(model[0])
    weights = model.state_dict()
    assert list(weights) == ["0._orig_mod.weight", "0._orig_mod.bias"]
    assert [key.replace("._orig_mod.", ".") for key in weights] == own


def test_the_documented_error_and_what_follows_it():
    wrapped = nn.DataParallel(nn.Linear(4, 2)).state_dict()
    with raises_as_documented(
        PAGE,
        "RuntimeError: Error(s) in loading state_dict for Linear:\n\tMissing key(s)",
    ) as caught:
        nn.Linear(4, 2).load_state_dict(wrapped)
    for part in (
        'Missing key(s) in state_dict: "weight", "bias"',
        'Unexpected key(s) in state_dict: "module.weight", "module.bias"',
    ):
        assert part in str(caught.value)


def test_the_pages_about_weights_share_a_folder(tmp_path, monkeypatch):
    """In any order, twice: each reads its own file, and none the other's."""
    monkeypatch.chdir(tmp_path)
    names = (PAGE.replace("-", "_"), *OTHERS)
    for name in (*names, *reversed(names)):
        load_snippet(f"{name}.py")
    files = sorted(path.name for path in tmp_path.iterdir())
    assert files == ["pretrained.pt", "weights.pt", "wrapped.pt"]
