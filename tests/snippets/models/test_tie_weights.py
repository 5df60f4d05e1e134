"""tie-weights: the sum of both gradients, one update, files, and lost ties."""

import copy
import io
import math
import re

import pytest
import torch
from safetensors.torch import load_file, load_model, save_file, save_model
from torch import nn
from torch.nn import functional as F

from tests.helpers import assert_documented, load_snippet, raises_as_documented

PAGE = "models/tie-weights"
LanguageModel = load_snippet("models/tie_weights.py").LanguageModel


@pytest.fixture
def model():
    torch.manual_seed(0)
    return LanguageModel(10, 4)


def tied(model):
    return model.head.weight is model.embedding.weight


def test_the_logits_are_products_with_the_rows(model):
    ids = torch.tensor([[1, 9], [0, 3]])
    rows = model.embedding.weight.detach()
    expected = torch.tensor(
        [[[rows[i] @ rows[v] for v in range(10)] for i in line] for line in ids]
    )
    torch.testing.assert_close(model(ids).detach(), expected)
    assert model.head.bias is None
    assert rows.shape == (10, 4)


def test_the_gradient_is_the_sum_of_both_uses(model):
    ids, target = torch.tensor([1, 2, 2]), torch.tensor([2, 0, 7])
    F.cross_entropy(model(ids), target).backward()
    first, second = (model.head.weight.detach().clone() for _ in range(2))
    first.requires_grad_()
    second.requires_grad_()
    F.cross_entropy(first[ids] @ second.T, target).backward()
    torch.testing.assert_close(model.head.weight.grad, first.grad + second.grad)
    assert first.grad.abs().max() > 0 < second.grad.abs().max()


def test_the_optimizer_updates_once(model):
    before = model.head.weight.detach().clone()
    model(torch.tensor([1])).sum().backward()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    optimizer.step()
    assert len(optimizer.param_groups[0]["params"]) == 1
    expected = before - 0.5 * model.head.weight.grad
    torch.testing.assert_close(model.embedding.weight.detach(), expected)
    assert tied(model)


def test_saving_and_loading(model):
    file = io.BytesIO()
    big = LanguageModel(1000, 64)
    torch.save(big.state_dict(), file)
    assert 256_000 < file.tell() < 260_000  # 1000 * 64 * 4 bytes, once
    file.seek(0)
    state = torch.load(file, weights_only=True)
    assert list(state) == ["embedding.weight", "head.weight"]
    other = LanguageModel(1000, 64)
    other.load_state_dict(state)
    assert tied(other)
    assert torch.equal(other.head.weight, big.head.weight)
    assert tied(copy.deepcopy(model))
    assert tied(model.double().to("cpu"))


def test_the_first_loss_is_near_log_v():
    torch.manual_seed(0)
    model = LanguageModel(1000, 64)
    ids, target = torch.randint(1000, (2, 64))

    def loss():
        return F.cross_entropy(model(ids), target).item()

    assert loss() == pytest.approx(math.log(1000), rel=0.01)
    assert model.embedding.weight.std().item() == pytest.approx(0.02, rel=0.02)
    model.embedding.reset_parameters()
    assert loss() > 5 * math.log(1000)


def test_a_file_with_one_name(model, tmp_path):
    path = tmp_path / "tied.safetensors"
    save_model(model, path)
    state, other = load_file(path), LanguageModel(10, 4)
    assert list(state) == ["embedding.weight"]
    with raises_as_documented(PAGE, "RuntimeError: Error(s) in loading state_dict"):
        other.load_state_dict(state)
    other = LanguageModel(10, 4)
    report = other.load_state_dict(state, strict=False)
    assert report.missing_keys == ["head.weight"]
    assert torch.equal(other.head.weight, model.head.weight)
    other = LanguageModel(10, 4)
    load_model(other, path)
    assert tied(other)
    assert torch.equal(other.head.weight, model.head.weight)
    with pytest.raises(RuntimeError, match="share memory") as caught:
        save_file(model.state_dict(), path)
    raised = "RuntimeError: " + re.sub(r"^\s+", "", str(caught.value))
    assert_documented(PAGE, "RuntimeError: Some tensors share memory", raised)


def through_data(model):
    model.head.weight = nn.Parameter(torch.zeros(10, 4))
    model.head.weight.data = model.embedding.weight.data


def new_parameter(model):
    model.head.weight = nn.Parameter(model.embedding.weight)


def from_pretrained(model):
    model.embedding = nn.Embedding.from_pretrained(model.head.weight, freeze=False)


@pytest.mark.parametrize("end", [through_data, new_parameter, from_pretrained])
def test_shared_memory_is_no_tie(model, end):
    end(model)
    assert not tied(model)
    assert model.head.weight.data_ptr() == model.embedding.weight.data_ptr()
    assert len(list(model.parameters())) == 2
    model.double()
    with torch.no_grad():
        model.head.weight += 1
    assert not torch.equal(model.head.weight, model.embedding.weight)


def test_what_ends_the_tie(model):
    state = model.state_dict()
    other = LanguageModel(10, 4)
    other.load_state_dict(state, assign=True)
    assert not tied(other)
    with torch.device("meta"):
        other = LanguageModel(10, 4)
    assert tied(other)
    assert not tied(other.to_empty(device="cpu"))
    model.embedding = nn.Embedding(12, 4)
    assert not tied(model)
    model.head.weight = model.embedding.weight
    assert tied(model)


def test_a_transposed_weight_is_no_parameter(model):
    encoder, decoder = nn.Linear(4, 2), nn.Linear(2, 4)
    with raises_as_documented(PAGE, "TypeError: cannot assign"):
        decoder.weight = encoder.weight.T
    with raises_as_documented(PAGE, "TypeError: cannot assign"):
        model.head.weight = model.embedding.weight.clone()
    x = torch.rand(3, 4)
    z = encoder(x)
    torch.testing.assert_close(F.linear(z, encoder.weight.T), z @ encoder.weight)


def test_two_weights_of_an_old_file(model):
    old = {"embedding.weight": torch.zeros(10, 4), "head.weight": torch.ones(10, 4)}
    model.load_state_dict(old)
    assert model.embedding.weight.eq(1).all()


def test_messages_of_the_optimizer(model):
    model.head.weight = model.embedding.weight
    both = [model.embedding.weight, model.head.weight]
    with pytest.warns(UserWarning, match="duplicate") as caught:
        torch.optim.SGD(both, lr=0.1)
    raised = f"UserWarning: {caught[0].message}"
    assert_documented(PAGE, "UserWarning: optimizer contains", raised)


def test_names(model):
    every = [n for n, _ in model.named_parameters(remove_duplicate=False)]
    assert every == ["embedding.weight", "head.weight"]
    assert [n for n, _ in model.named_parameters()] == ["embedding.weight"]
    layer = nn.Linear(4, 4)
    assert len(list(nn.Sequential(layer, layer).parameters())) == 2
    assert len(list(nn.Sequential(layer, copy.deepcopy(layer)).parameters())) == 4


@pytest.mark.parametrize("kind", [{"dtype": torch.bfloat16}, {"device": "cpu"}])
def test_the_tie_holds_where_the_model_goes(kind):
    model = copy.deepcopy(LanguageModel(9, 4)).to(**kind)
    assert model.head.weight is model.embedding.weight
    assert model(torch.tensor([[1, 8]])).shape == (1, 2, 9)
