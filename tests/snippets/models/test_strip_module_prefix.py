"""strip-module-prefix: keys and values from the real wrappers of torch."""

import pytest
import torch
from torch import nn
from torch.nn.modules.utils import consume_prefix_in_state_dict_if_present as consume
from torch.nn.parallel import DistributedDataParallel
from torch.optim.swa_utils import AveragedModel

from tests.helpers import load_snippet, raises_as_documented

strip_prefixes = load_snippet("models/strip_module_prefix.py").strip_prefixes
PAGE = "models/strip-module-prefix"


def build():
    submodule = nn.ModuleDict({"submodule": nn.Linear(4, 2)})
    return nn.ModuleDict({"encoder": submodule, "norm": nn.BatchNorm1d(2)})


@pytest.fixture
def group(tmp_path):
    """A process group of one, for DDP."""
    store = torch.distributed.FileStore(str(tmp_path / "store"), 1)
    torch.distributed.init_process_group("gloo", store=store, rank=0, world_size=1)
    yield
    torch.distributed.destroy_process_group()


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
def test_weights_of_every_wrapper_load_strictly(wrap, tmp_path):
    trained, model = build(), build()
    wrapped = wrap(trained).state_dict()
    torch.save(wrapped, tmp_path / "weights.pt")
    file = tmp_path / "weights.pt"
    weights = torch.load(file, map_location="cpu", weights_only=True)
    before = list(weights)
    bare = strip_prefixes(weights, model)
    assert list(weights) == before
    assert list(bare) == list(trained.state_dict())
    assert model.load_state_dict(bare).missing_keys == []
    for key, value in trained.state_dict().items():
        assert bare[key] is weights[before[list(bare).index(key)]]
        assert torch.equal(model.state_dict()[key], value.cpu())


def test_the_prefixes_are_those_of_torch():
    layer = nn.Linear(1, 1, bias=False)
    assert list(nn.DataParallel(layer).state_dict()) == ["module.weight"]
    assert list(torch.compile(layer).state_dict()) == ["_orig_mod.weight"]
    in_place = nn.Linear(1, 1)
    in_place.compile()
    assert list(in_place.state_dict()) == ["weight", "bias"]


def test_a_layer_that_is_really_called_module_keeps_its_name():
    model = nn.ModuleDict({"module": nn.ModuleDict({"module": nn.Linear(1, 1)})})
    own = list(model.state_dict())
    assert own == ["module.module.weight", "module.module.bias"]
    assert list(strip_prefixes(model.state_dict(), model)) == own
    wrapped = nn.DataParallel(model).state_dict()
    assert list(strip_prefixes(wrapped, model)) == own


def test_only_whole_prefixes_at_the_front_are_cut():
    model = nn.ModuleDict()
    keys = ["modules.a", "module", "a.module.b", "_orig_modx.a", "x", "module.a.b"]
    given = dict.fromkeys(keys, torch.ones(1))
    expected = ["modules.a", "module", "a.module.b", "_orig_modx.a", "x", "a.b"]
    assert list(strip_prefixes(given, model)) == expected
    assert strip_prefixes({}, model) == {}


def test_the_ways_that_spoil_keys():
    assert "encoder.weight"[7:] == ".weight"
    assert "module.encoder.submodule.weight".replace("module.", "") == (
        "encoder.subweight"
    )
    assert "module.model.weight".lstrip("module.") == "weight"


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
    bare = strip_prefixes(weights, model)
    assert list(bare) == ["n_averaged", "weight", "bias"]
    with raises_as_documented(PAGE) as caught:
        model.load_state_dict(bare)
    assert 'Unexpected key(s) in state_dict: "n_averaged"' in str(caught.value)
    bare.pop("n_averaged")
    model.load_state_dict(bare)


def test_the_variants():
    model = build()
    wrapped = nn.DataParallel(model)
    assert wrapped.module is model
    assert torch.compile(model)._orig_mod is model
    weights = wrapped.state_dict()
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
    with raises_as_documented(PAGE) as caught:
        nn.Linear(4, 2).load_state_dict(wrapped)
    for part in (
        'Missing key(s) in state_dict: "weight", "bias"',
        'Unexpected key(s) in state_dict: "module.weight", "module.bias"',
    ):
        assert part in str(caught.value)
