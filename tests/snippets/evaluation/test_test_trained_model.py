"""test-trained-model: the answer in another script, from each kind of file."""

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from tests.chains.pasted import answer
from tests.helpers import load_snippet, raises_as_documented

PAGE = "evaluation/test-trained-model"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def names(model):
    """Seven samples in batches of four, of which five have the larger input."""
    x = torch.tensor([[2.0, 1]] * 5 + [[1.0, 2]] * 2)
    test_set = TensorDataset(x, torch.zeros(7, dtype=torch.int64))
    loader = DataLoader(test_set, batch_size=4)
    given = {"model": model, "test_set": test_set, "test_loader": loader}
    return {**given, "device": torch.device("cpu")}


def test_the_weights_of_the_file_are_tested_in_eval_mode(capsys):
    trained = nn.Sequential(nn.Dropout(0.9), nn.Linear(2, 2, bias=False))
    nn.init.eye_(trained[1].weight)
    torch.save(trained.state_dict(), "model.pt")
    fresh = nn.Sequential(nn.Dropout(0.9), nn.Linear(2, 2, bias=False))
    nn.init.zeros_(fresh[1].weight)
    given = names(fresh)
    exec(answer("test-trained-model"), given)
    assert capsys.readouterr().out == "5 of 7 are right: 71.4%\n"
    assert not fresh.training
    assert all(p.grad is None for p in fresh.parameters())


def test_the_other_kinds_of_file():
    model = nn.Linear(2, 2)
    torch.save({"model_state_dict": model.state_dict(), "epoch": 3}, "last.pt")
    checkpoint = torch.load("last.pt", weights_only=True)
    other = nn.Linear(2, 2)
    other.load_state_dict(checkpoint["model_state_dict"])
    torch.testing.assert_close(other.weight, model.weight)
    torch.save(model, "model.pt")
    whole = torch.load("model.pt", weights_only=False)
    torch.testing.assert_close(whole.weight, model.weight)


def test_a_checkpoint_in_place_of_the_weights():
    torch.save({"epoch": 3}, "model.pt")
    model = nn.Sequential(nn.Dropout(), nn.Linear(10, 10))
    start = "RuntimeError: Error(s) in loading state_dict for Sequential"
    with raises_as_documented(PAGE, start):
        exec(answer("test-trained-model"), names(model))


def test_the_demonstration_tests_what_was_saved(capsys):
    snippet = load_snippet("evaluation/test_trained_model.py")
    x, y = snippet.test_set.tensors
    right = int((x.argmax(1) == y).sum())  # the weights are the identity
    bias = snippet.trained[1].bias
    assert snippet.right == int(((x + bias).argmax(1) == y).sum())
    assert abs(snippet.right - right) <= 10
    assert capsys.readouterr().out.startswith(f"{snippet.right} of 103 are right")
