"""err-missing-unexpected-keys: each cause of the table, raised and mended."""

import copy

import pytest
import torch
from torch import nn

from tests.helpers import ROOT, load_snippet, raises_as_documented

PAGE = "errors/err-missing-unexpected-keys"
SOURCE = (ROOT / "snippets/errors/err_missing_unexpected_keys.py").read_text("utf-8")
FIX = compile(SOURCE[SOURCE.index("for key in") :].split("assert")[0], PAGE, "exec")


def mend(model, weights):
    """The snippet's own lines, on other models and files."""
    names = {"torch": torch, "model": model, "weights": weights}
    exec(FIX, names)
    return names["weights"]


def equal(model, other):
    pairs = zip(model.state_dict().items(), other.state_dict().items(), strict=True)
    return all(a == b and torch.equal(x, y) for (a, x), (b, y) in pairs)


def test_the_snippet_raises_it_and_loads(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(torch.serialization, "location_tag", lambda _: "cuda:1")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    snippet = load_snippet("errors/err_missing_unexpected_keys.py")
    printed = capsys.readouterr().out
    assert 'Missing key(s) in state_dict: "weight", "bias".' in printed
    assert 'Unexpected key(s) in state_dict: "epoch", "model_state_dict".' in printed
    assert equal(snippet.model, snippet.trained.module)


def test_the_first_of_both_lists_are_printed(capsys):
    model = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3))
    mend(model, nn.DataParallel(copy.deepcopy(model)).state_dict())
    file, own = capsys.readouterr().out.splitlines()
    assert file == "file:  ['module.0.weight', 'module.0.bias', 'module.1.weight']"
    assert own == "model: ['0.weight', '0.bias', '1.weight']"


@pytest.mark.parametrize(
    "wrap",
    [
        nn.DataParallel,
        lambda model: model,
        torch.compile,
        lambda model: nn.DataParallel(torch.compile(model)),
        lambda model: torch.compile(nn.DataParallel(model)),
    ],
)
@pytest.mark.parametrize("key", ["model_state_dict", "state_dict", "model", None])
def test_wrapped_or_not_in_a_checkpoint_or_not(wrap, key):
    model, other = nn.Linear(4, 2), nn.Linear(4, 2)
    weights = wrap(other).state_dict()
    mend(model, {"epoch": 1, key: weights} if key else weights)
    assert equal(model, other)


def test_it_stays_strict():
    with pytest.raises(RuntimeError, match="Missing key"):
        mend(nn.Linear(4, 2), {"weight": torch.ones(2, 4)})
    inner = {"submodule.weight": torch.ones(2, 4), "bias": torch.ones(2)}
    with pytest.raises(RuntimeError, match=r'Unexpected.*"submodule.weight"'):
        mend(nn.Linear(4, 2), inner)  # only the front is cut


def test_an_adapter_lacks_the_weights_of_the_model():
    """Its names as PEFT writes them: a prefix, and two factors for each layer."""
    adapter = {
        f"base_model.model.0.lora_{part}.weight": torch.zeros(shape)
        for part, shape in {"A": (1, 4), "B": (2, 1)}.items()
    }
    with pytest.raises(RuntimeError, match="Error") as caught:
        mend(nn.Sequential(nn.Linear(4, 2)), adapter)
    assert 'Missing key(s) in state_dict: "0.weight", "0.bias".' in str(caught.value)
    assert 'Unexpected key(s) in state_dict: "base_model.model.0.' in str(caught.value)


def test_a_wrapped_model_and_a_bare_file():
    model, other = nn.DataParallel(nn.Linear(4, 2)), nn.Linear(4, 2)
    with pytest.raises(RuntimeError, match=r'Missing key.*"module.weight"'):
        model.load_state_dict(other.state_dict())
    model.module.load_state_dict(other.state_dict())
    assert equal(model.module, other)


def test_each_list_alone():
    with raises_as_documented(
        PAGE, "RuntimeError: Error(s) in loading state_dict for Lin"
    ):
        nn.Linear(4, 2).load_state_dict({})
    norm = nn.BatchNorm1d(3, track_running_stats=False)
    with raises_as_documented(
        PAGE, "RuntimeError: Error(s) in loading state_dict for Bat"
    ) as caught:
        norm.load_state_dict(nn.BatchNorm1d(3).state_dict())
    assert "Missing" not in str(caught.value)
    norm.load_state_dict(nn.BatchNorm1d(3).state_dict(), strict=False)


def test_a_whole_model_is_no_state_dict():
    loaded, model = nn.Linear(4, 2), nn.Linear(4, 2)
    with raises_as_documented(PAGE, "TypeError: Expected state_dict to be dict-like"):
        model.load_state_dict(loaded)
    with pytest.raises(AttributeError, match="no attribute 'get'"):
        mend(model, loaded)
    with pytest.raises(TypeError, match="is not iterable"):
        mend(model, {"epoch": 9, "model": loaded})
    mend(model, {"epoch": 9, "model": loaded}["model"].state_dict())
    assert equal(model, loaded)


def test_what_matches_is_copied_before_it_raises():
    model, other = nn.Linear(4, 2), nn.Linear(4, 2)
    bias = model.bias.clone()
    with pytest.raises(RuntimeError, match="Missing key"):
        model.load_state_dict({"weight": other.weight})
    assert torch.equal(model.weight, other.weight)
    assert torch.equal(model.bias, bias)


def test_a_missing_counter_of_batches():
    model, other = nn.BatchNorm1d(3), nn.BatchNorm1d(3)
    other(torch.randn(8, 3))
    weights = other.state_dict()
    del weights["num_batches_tracked"]
    with pytest.raises(RuntimeError, match=r'Missing key.*"num_batches_tracked"'):
        model.load_state_dict(weights)
    model.load_state_dict(dict(weights))
    assert model.num_batches_tracked == 0
    assert torch.equal(model.running_mean, other.running_mean)
    del weights["running_mean"]
    with pytest.raises(RuntimeError, match="running_mean"):
        model.load_state_dict(dict(weights))


def test_the_names_that_differ_in_short():
    weights = nn.DataParallel(nn.Linear(4, 2)).state_dict()
    names = weights.keys() ^ nn.Linear(4, 2).state_dict().keys()
    assert names == {"weight", "bias", "module.weight", "module.bias"}
