"""accuracy-differs: each row of the table made to happen, then mended."""

import copy
import io

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from tests.helpers import load_snippet, recipes

ANSWER = recipes()["accuracy-differs"].answer


@pytest.fixture
def model():
    layers = nn.Linear(8, 64), nn.BatchNorm1d(64), nn.Dropout(), nn.Linear(64, 3)
    return nn.Sequential(*layers)


@pytest.fixture
def samples():
    return torch.randn(50, 8), torch.arange(50) % 3


def answered(model, samples, size: int, capsys) -> str:
    loader = DataLoader(TensorDataset(*samples), batch_size=size)
    names = {"model": model, "loader": loader, "state": model.state_dict()}
    names |= {"device": torch.device("cpu")}
    exec(ANSWER.text, names)
    return capsys.readouterr().out


def test_it_counts_the_same_for_every_batch_size(model, samples, capsys):
    said = {answered(model.train(), samples, size, capsys) for size in (1, 7, 50)}
    x, y = samples
    w, norm, last = model[0], model[1], model[3]
    hidden = (x @ w.weight.T + w.bias - norm.running_mean) / torch.sqrt(
        norm.running_var + norm.eps
    )
    logits = (hidden * norm.weight + norm.bias) @ last.weight.T + last.bias
    right = sum(int(row.argmax()) == int(t) for row, t in zip(logits, y, strict=True))
    assert said == {f"<All keys matched successfully>\n{right} of 50 right\n"}


def test_without_eval_the_batch_decides(model, samples):
    x, _ = samples
    model[2].p = 0.0  # BatchNorm alone
    with torch.no_grad():
        assert not torch.allclose(model(x)[:2], model(x[:2]))
        model.eval()
        torch.testing.assert_close(model(x)[:2], model(x[:2]))


def test_keys_that_do_not_match_leave_the_weights_as_they_were(model):
    before = copy.deepcopy(model.state_dict())
    given = {f"module.{k}": torch.zeros_like(v) for k, v in before.items()}
    result = model.load_state_dict(given, strict=False)
    assert result.unexpected_keys == [*given]
    assert result.missing_keys
    assert all(torch.equal(v, before[k]) for k, v in model.state_dict().items())


def test_a_mean_of_batch_means_is_another_number():
    right = torch.tensor([1.0] * 32 + [0.0] * 4)
    means = torch.stack([part.mean() for part in right.split(32)])
    assert means.mean() == 0.5
    assert right.mean() > 0.8


def test_a_layer_that_is_replaced_after_loading_is_new(model):
    saved = io.BytesIO()
    torch.save(model.state_dict(), saved)
    saved.seek(0)
    state = torch.load(saved)
    model.load_state_dict(state)
    model[3] = nn.Linear(64, 3)
    assert not torch.equal(model[3].weight, state["3.weight"])
    model.load_state_dict(state)
    assert torch.equal(model[3].weight, state["3.weight"])


def test_a_state_dict_holds_the_live_tensors(model):
    best, kept = model.state_dict(), copy.deepcopy(model.state_dict())
    with torch.no_grad():
        model[0].weight.add_(1)
    assert torch.equal(best["0.weight"], model[0].weight)
    assert not torch.equal(kept["0.weight"], model[0].weight)


def test_the_demonstration(capsys):
    load_snippet("errors/accuracy_differs.py")
    assert "of 100 right" in capsys.readouterr().out
