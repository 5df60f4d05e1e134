"""layerwise-learning-rates: groups worked out by hand, steps of one optimizer each."""

import copy

import pytest
import timm
import torch
from timm.optim import create_optimizer_v2
from torch import nn
from torch.optim import lr_scheduler
from torchvision.models import resnet18

from tests.helpers import load_snippet, raises_as_documented

lr_groups = load_snippet("models/layerwise_learning_rates.py").lr_groups
PAGE = "models/layerwise-learning-rates"


@pytest.fixture
def model():
    torch.manual_seed(0)
    layers = {f"layer{i}": nn.Linear(3, 3) for i in (1, 2, 10)}
    return nn.ModuleDict({**layers, "head": nn.Sequential(nn.Linear(3, 2))})


def names(model, group):
    found = {id(p): name for name, p in model.named_parameters()}
    return [found[id(p)] for p in group["params"]]


def test_hand_worked_groups(model):
    rates = {"layer1": 1e-3, "head": 1e-1, "head.0.bias": 0.5}
    groups = lr_groups(model, 1e-4, rates)
    assert [group["lr"] for group in groups] == [1e-4, 1e-3, 1e-1, 0.5]
    assert [names(model, group) for group in groups] == [
        ["layer2.weight", "layer2.bias", "layer10.weight", "layer10.bias"],
        ["layer1.weight", "layer1.bias"],  # and not layer10
        ["head.0.weight"],  # a longer name took the bias
        ["head.0.bias"],
    ]
    assert set(groups[0]) == {"params", "lr"}
    assert rates == {"layer1": 1e-3, "head": 1e-1, "head.0.bias": 0.5}


def test_the_order_of_the_names_does_not_matter(model):
    groups = lr_groups(model, 1.0, {"head.0.bias": 2.0, "head": 3.0})
    assert names(model, groups[1]) == ["head.0.bias"]
    assert names(model, groups[2]) == ["head.0.weight"]


def test_every_parameter_is_in_one_group_frozen_or_not(model):
    model["layer1"].requires_grad_(False)
    groups = lr_groups(model, 0.1, {"head": 0.2})
    sorted_once = [id(p) for group in groups for p in group["params"]]
    assert sorted(sorted_once) == sorted(id(p) for p in model.parameters())


def test_tied_weights_occur_once(model):
    model["layer2"].weight = model["layer1"].weight
    groups = lr_groups(model, 0.1, {"layer1": 0.2})
    assert "layer2.weight" not in names(model, groups[0])
    torch.optim.SGD(groups)  # would raise if it were there twice


def test_no_names_and_all_names(model):
    (only,) = lr_groups(model, 0.1, {})
    assert only["lr"] == 0.1
    assert len(only["params"]) == 8
    groups = lr_groups(model, 0.1, dict.fromkeys(model, 0.2))
    assert groups[0]["params"] == []
    torch.optim.AdamW(groups)


@pytest.mark.parametrize("unused", ["hed", "layer", "head.0.weights", "layer1.0"])
def test_a_name_without_parameters_is_an_error(model, unused):
    with pytest.raises(ValueError, match=rf"^No parameter belongs to {unused}$"):
        lr_groups(model, 0.1, {"layer1": 0.2, unused: 0.3})


def test_all_unused_names_are_told(model):
    rates = {"a": 0.2, "head": 0.3, "head.0": 0.4}  # the longer one takes all
    with pytest.raises(ValueError, match=r"^No parameter belongs to a, head, head\.0$"):
        lr_groups(nn.Linear(1, 1), 0.1, rates)
    with pytest.raises(ValueError, match=r"^No parameter belongs to a, head$"):
        lr_groups(model, 0.1, rates)


@pytest.mark.parametrize("optimizer", [torch.optim.SGD, torch.optim.AdamW])
def test_a_step_is_that_of_one_optimizer_per_part(model, optimizer):
    def loss(model):
        x = torch.ones(2, 3)
        for layer in model.values():
            x = layer(x).tanh()
        return x.square().sum()

    reference = copy.deepcopy(model)
    together = optimizer(lr_groups(model, 1e-4, {"layer10": 1e-3, "head": 1e-2}))
    apart = [
        optimizer(reference["layer1"].parameters(), lr=1e-4),
        optimizer(reference["layer2"].parameters(), lr=1e-4),
        optimizer(reference["layer10"].parameters(), lr=1e-3),
        optimizer(reference["head"].parameters(), lr=1e-2),
    ]
    for _ in range(3):
        together.zero_grad()
        loss(model).backward()
        together.step()
        for each in apart:
            each.zero_grad()
        loss(reference).backward()
        for each in apart:
            each.step()
    for p, q in zip(model.parameters(), reference.parameters(), strict=True):
        torch.testing.assert_close(p, q)


def test_what_schedulers_do_with_the_rates(model):
    def optimizer():
        groups = lr_groups(model, 1e-4, {"head": 1e-2})
        return torch.optim.SGD(groups, momentum=0.9)

    same = lr_scheduler.OneCycleLR(optimizer(), max_lr=0.1, total_steps=10)
    assert len(set(same.get_last_lr())) == 1
    several = lr_scheduler.OneCycleLR(optimizer(), max_lr=[1e-4, 1e-2], total_steps=10)
    low, high = several.get_last_lr()
    assert high == pytest.approx(100 * low)

    half = optimizer()
    schedule = lr_scheduler.LambdaLR(half, lambda step: 0.5**step)
    half.step()
    schedule.step()
    assert schedule.get_last_lr() == pytest.approx([5e-5, 5e-3])
    cosine = optimizer()
    schedule = lr_scheduler.CosineAnnealingLR(cosine, T_max=4)
    for _ in range(2):
        cosine.step()
        schedule.step()
    assert schedule.get_last_lr() == pytest.approx([5e-5, 5e-3])


SCHEDULERS = {
    "StepLR": lambda o: lr_scheduler.StepLR(o, step_size=1, gamma=0.5),
    "CosineAnnealingLR": lambda o: lr_scheduler.CosineAnnealingLR(o, T_max=10),
    "LambdaLR": lambda o: lr_scheduler.LambdaLR(o, lambda step: 0.9**step),
    "OneCycleLR": lambda o: lr_scheduler.OneCycleLR(
        o, max_lr=[1e-3, 1e-2], total_steps=10
    ),
}


@pytest.mark.parametrize(
    ("name", "ratio"),  # between the rates, 10 until one is changed to a tenth
    [("StepLR", 1), ("CosineAnnealingLR", 1), ("LambdaLR", 10), ("OneCycleLR", 10)],
)
def test_what_schedulers_do_with_a_rate_changed_later(model, name, ratio):
    groups = lr_groups(model, 1e-3, {"head": 1e-2})
    optimizer = torch.optim.SGD(groups, momentum=0.9)
    scheduler = SCHEDULERS[name](optimizer)

    def step():
        optimizer.step()
        scheduler.step()
        low, high = scheduler.get_last_lr()
        return high / low

    assert step() == pytest.approx(10)
    optimizer.param_groups[1]["lr"] *= 0.1
    for _ in range(3):
        assert step() == pytest.approx(ratio)


def test_the_variant_of_decay_by_depth():
    n, lr, layer = 3, 1e-3, nn.TransformerEncoderLayer(4, 1, 8, batch_first=True)
    encoder = nn.TransformerEncoder(layer, n, enable_nested_tensor=False)
    groups = lr_groups(
        encoder, lr, {f"layers.{i}": lr * 0.75 ** (n - i) for i in range(n)}
    )
    assert [group["lr"] for group in groups[1:]] == pytest.approx(
        [lr * 0.421875, lr * 0.5625, lr * 0.75]
    )
    assert all(name.startswith("layers.2.") for name in names(encoder, groups[3]))


def test_the_documented_errors(model):
    with raises_as_documented(PAGE):
        torch.optim.SGD([{"parameters": model.parameters(), "lr": 0.1}])
    head = {"params": model["head"].parameters(), "lr": 0.1}
    with raises_as_documented(PAGE):
        torch.optim.SGD([{"params": model.parameters()}, head], lr=0.01)
    with raises_as_documented(PAGE):
        resnet18(prerained=True)
    special = list(model["layer1"].parameters())
    with raises_as_documented(PAGE):
        [p for p in model["layer2"].parameters() if p not in special]
    grouped = torch.optim.SGD(lr_groups(model, 0.1, {"head": 0.2}))
    with raises_as_documented(PAGE):
        grouped.load_state_dict(torch.optim.SGD(model.parameters()).state_dict())


def test_a_misspelt_option_is_silent(model):
    group = {"params": model.parameters(), "Lr": 0.5}
    assert torch.optim.SGD([group], lr=0.1).param_groups[0]["lr"] == 0.1


def test_timm_only_stores_the_scale():
    vit = timm.create_model("vit_tiny_patch16_224", img_size=32, depth=2)
    optimizer = create_optimizer_v2(vit, opt="adamw", lr=1e-3, layer_decay=0.75)
    assert {group["lr"] for group in optimizer.param_groups} == {1e-3}
    scales = {group["lr_scale"] for group in optimizer.param_groups}
    assert scales == {0.75**3, 0.75**2, 0.75, 1.0}
