"""pruning: what becomes zero against NumPy, what trains, and the messages."""

import copy
import io

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.utils import prune

from tests.helpers import load_snippet, raises_as_documented, recipes

PAGE = "models/pruning"
ANSWER = recipes()["pruning"].answer
snippet = load_snippet("models/pruning.py")


def network() -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 2))


def pairs(model: nn.Module) -> list[tuple[nn.Module, str]]:
    return [(m, "weight") for m in model if isinstance(m, nn.Linear)]


def size(model: nn.Module) -> int:
    file = io.BytesIO()
    torch.save(model.state_dict(), file)
    return file.tell()


def test_the_smallest_of_each_layer_are_zero():
    fresh = network()
    for layer, m in zip(snippet.layers, (fresh[0], fresh[2]), strict=True):
        w = np.abs(m.weight.detach().numpy())
        limit = np.sort(w.ravel())[round(0.8 * w.size) - 1]
        assert np.array_equal(layer.weight.detach().numpy() == 0, w <= limit)
    assert len(snippet.zeros) == 20 * 64 + 64 * 2


def test_global_pruning_can_empty_a_layer():
    model = network()
    every = np.concatenate([m.weight.detach().numpy().ravel() for m, _ in pairs(model)])
    prune.global_unstructured(pairs(model), prune.L1Unstructured, amount=0.8)
    limit = np.sort(np.abs(every))[round(0.8 * every.size) - 1]
    for layer, _ in pairs(model):
        zero = layer.weight_orig.detach().abs() <= float(limit)
        assert torch.equal(layer.weight == 0, zero)
    assert (model[2].weight == 0).all()
    assert torch.equal(model(torch.randn(9, 20)), model[2].bias.expand(9, 2))


def test_the_rest_is_trained_and_plain():
    fresh = network()
    for layer, m in zip(snippet.layers, (fresh[0], fresh[2]), strict=True):
        kept = layer.weight != 0
        assert not torch.isclose(layer.weight[kept], m.weight[kept]).any()
    assert snippet.model.state_dict().keys() == fresh.state_dict().keys()
    assert not prune.is_pruned(snippet.model)
    losses = [
        nn.functional.cross_entropy(m(snippet.x), snippet.y)
        for m in (snippet.model, fresh)
    ]
    assert losses[0] < losses[1]


def test_the_file_grows_and_comes_back():
    model = network()
    plain = size(model)
    prune.global_unstructured(pairs(model), prune.L1Unstructured, amount=0.8)
    assert model[0].weight_orig.numel() == model[0].weight_mask.numel() == 1280
    assert size(model) > 1.6 * plain  # of which biases and keys are not doubled
    for layer, name in pairs(model):
        prune.remove(layer, name)
    assert size(model) == pytest.approx(plain, rel=0.02)


def test_the_parameter_is_the_same_object():
    model = network()
    weight = model[0].weight
    prune.l1_unstructured(model[0], "weight", amount=0.5)
    assert model[0].weight_orig is weight
    model(torch.randn(3, 20)).sum().backward()
    assert (weight.grad[model[0].weight_mask == 0] == 0).all()


def test_zeros_return_after_remove():
    model = network()
    prune.l1_unstructured(model[0], "weight", amount=0.5)
    prune.remove(model[0], "weight")
    optimizer = torch.optim.AdamW(model.parameters())
    model(torch.randn(99, 20)).square().sum().backward()
    optimizer.step()
    assert (model[0].weight == 0).float().mean() < 0.1


def test_amounts():
    layer = nn.Linear(20, 64)
    for share in (0.5, 0.75):
        prune.l1_unstructured(layer, "weight", amount=0.5)
        assert (layer.weight == 0).float().mean() == share
    layer = prune.l1_unstructured(nn.Linear(20, 64), "weight", amount=50)
    assert (layer.weight == 0).sum() == 50


def test_whole_rows():
    layer = nn.Linear(20, 64)
    norms = np.linalg.norm(layer.weight.detach().numpy(), axis=1)
    prune.ln_structured(layer, "weight", amount=0.5, n=2, dim=0)
    rows = (layer.weight == 0).all(1).numpy()
    assert np.array_equal(np.flatnonzero(rows), np.sort(np.argsort(norms)[:32]))
    assert layer.weight.shape == (64, 20)


def test_a_zero_row_still_gives_a_value_after_batchnorm():
    conv, norm = nn.Conv2d(3, 4, 3, bias=False), nn.BatchNorm2d(4)
    nn.init.ones_(norm.bias)
    prune.ln_structured(conv, "weight", amount=2, n=2, dim=0)
    out = norm(conv(torch.rand(2, 3, 5, 5)))
    row = (conv.weight == 0).flatten(1).all(1)
    assert row.sum() == 2
    assert (out[:, row] == 1).all()


def test_messages():
    model = network()
    prune.global_unstructured(pairs(model), prune.L1Unstructured, amount=0.5)
    with raises_as_documented(PAGE, "RuntimeError: Error(s) in loading"):
        network().load_state_dict(model.state_dict())
    again = network()
    prune.global_unstructured(pairs(again), prune.L1Unstructured, amount=0.1)
    again.load_state_dict(model.state_dict())
    model(torch.randn(2, 20))
    with raises_as_documented(PAGE, "RuntimeError: Only Tensors created"):
        copy.deepcopy(model)
    prune.remove(model[0], "weight")
    with raises_as_documented(PAGE, "ValueError: Parameter 'weight' of"):
        prune.remove(model[0], "weight")
    with raises_as_documented(PAGE, "ValueError: amount=1.5"):
        prune.l1_unstructured(model[0], "weight", amount=1.5)
    conv = nn.Conv2d(3, 8, 3).to(memory_format=torch.channels_last)
    with raises_as_documented(PAGE, "RuntimeError: view size is not compatible"):
        prune.l1_unstructured(conv, "weight", amount=0.5)
    conv.to(memory_format=torch.contiguous_format)
    prune.l1_unstructured(conv, "weight", amount=0.5)
    assert (conv.weight == 0).float().mean() == 0.5
    with raises_as_documented(PAGE, "AttributeError: 'ReLU'"):
        prune.l1_unstructured(model[1], "weight", amount=0.5)


def test_the_answer_in_a_network_with_an_optimizer_already():
    torch.manual_seed(0)
    blocks = nn.Conv2d(1, 8, 3), nn.BatchNorm2d(8), nn.Flatten(), nn.Linear(72, 2)
    model = nn.Sequential(nn.Sequential(*blocks[:2]), *blocks[2:])
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)
    x, y = torch.randn(16, 1, 5, 5), torch.randint(2, (16,))
    seen = []

    def fine_tune():
        for _ in range(3):
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()
        seen.append([(m.weight == 0).clone() for m in layers])

    layers = [blocks[0], blocks[3]]
    before = [m.weight.detach().clone() for m in layers]
    assert set(ANSWER.yours) == {"model", "fine_tune"}
    exec(ANSWER.text, {"model": model, "fine_tune": fine_tune})
    (zero,) = seen
    for m, zeros, old in zip(layers, zero, before, strict=True):
        assert zeros.sum().item() == round(0.8 * m.weight.numel())
        assert torch.equal(m.weight == 0, zeros)
        assert not torch.equal(m.weight[~zeros], old[~zeros])  # it was fine-tuned
        assert isinstance(m.weight, nn.Parameter)
    assert not prune.is_pruned(model)
    assert (blocks[1].weight != 0).all()  # BatchNorm is left alone


def test_the_answer_leaves_out_proj_of_attention_alone():
    torch.manual_seed(0)
    model = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    optimizer, x = torch.optim.AdamW(model.parameters()), torch.randn(4, 3, 8)

    def fine_tune():
        for _ in range(2):
            optimizer.zero_grad()
            model(x).square().mean().backward()
            optimizer.step()

    exec(ANSWER.text, {"model": model, "fine_tune": fine_tune})
    assert (model.linear1.weight == 0).sum() == round(0.8 * 16 * 8)
    out = model.self_attn.out_proj
    assert (out.weight != 0).all()
    prune.l1_unstructured(out, "weight", amount=0.8)
    with raises_as_documented(PAGE, "RuntimeError: Trying to backward"):
        fine_tune()
