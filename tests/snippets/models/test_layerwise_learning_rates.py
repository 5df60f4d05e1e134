"""layerwise-learning-rates: groups by hand, against one optimizer for each part."""

import copy

import pytest
import timm
import torch
from timm.optim import create_optimizer_v2
from torch import nn
from torch.optim import lr_scheduler
from torchvision import models

from tests.helpers import ROOT, load_snippet, raises_as_documented, recipes

SNIPPET = "models/layerwise_learning_rates.py"
PAGE = "models/layerwise-learning-rates"
snippet = load_snippet(SNIPPET)


@pytest.fixture
def model():
    torch.manual_seed(0)
    parts = {"backbone": nn.Linear(3, 3), "head": nn.Linear(3, 2)}
    return nn.ModuleDict(parts)


def two_groups(model, low=1e-3, high=1e-2):
    return [
        {"params": list(model["backbone"].parameters()), "lr": low},
        {"params": list(model["head"].parameters()), "lr": high},
    ]


def test_the_answer_takes_every_parameter_once():
    """Of a frozen model of another width, with a layer whose name begins alike."""
    answer = recipes()["layerwise-learning-rates"].answer
    assert set(answer.yours) == {"model"}
    with torch.device("meta"):
        model = models.resnet50()
        model.fc2 = nn.Linear(2, 2)
    names = {"model": model}
    exec(answer.text, names)
    low, high = names["optimizer"].param_groups
    assert {id(p) for p in high["params"]} == {id(p) for p in model.fc.parameters()}
    rest = {id(p) for p in model.parameters()} - {id(p) for p in high["params"]}
    assert {id(p) for p in low["params"]} == rest


def test_every_parameter_of_the_snippet_is_in_the_group_of_its_name():
    low, high = snippet.optimizer.param_groups
    rates = {id(p): group["lr"] for group in (low, high) for p in group["params"]}
    assert len(rates) == len(low["params"]) + len(high["params"])
    for name, parameter in snippet.model.named_parameters():
        expected = 1e-3 if name in ("fc.weight", "fc.bias") else 1e-4
        assert rates.pop(id(parameter)) == expected
    assert not rates
    assert snippet.model.fc.weight.shape == (5, 512)
    assert low["weight_decay"] == high["weight_decay"] == 0.01


def test_a_step_of_the_snippet_is_that_of_one_optimizer_per_part():
    model = copy.deepcopy(snippet.model)
    expected = copy.deepcopy(snippet.model)
    names = {id(p): name for name, p in snippet.model.named_parameters()}
    new = dict(model.named_parameters())
    groups = [
        {**group, "params": [new[names[id(p)]] for p in group["params"]]}
        for group in snippet.optimizer.param_groups
    ]
    rest = [p for name, p in expected.named_parameters() if "fc" not in name]
    apart = [
        torch.optim.AdamW(expected.fc.parameters(), lr=1e-3, weight_decay=0.01),
        torch.optim.AdamW(rest, lr=1e-4, weight_decay=0.01),
    ]
    together = [type(snippet.optimizer)(groups)]
    for net, optimizers in ((model, together), (expected, apart)):
        for parameter in net.parameters():
            parameter.grad = torch.ones_like(parameter)
        for optimizer in optimizers:
            optimizer.step()
    torch.testing.assert_close(model.state_dict(), expected.state_dict())
    moved = (model.fc.bias - snippet.model.fc.bias).abs().max().item()
    assert moved == pytest.approx(1e-3, rel=0.01)


def test_the_comment_for_your_code_works(monkeypatch):
    assert 'weights="DEFAULT"' in (ROOT / "snippets" / SNIPPET).read_text()
    weights = models.resnet18().state_dict()
    enum = models.ResNet18_Weights
    monkeypatch.setattr(enum, "get_state_dict", lambda self, **_: weights)
    model = models.resnet18(weights="DEFAULT")
    torch.testing.assert_close(model.state_dict(), weights)


def test_what_schedulers_do_with_the_rates(model):
    def optimizer():
        return torch.optim.SGD(two_groups(model, 1e-4, 1e-2), momentum=0.9)

    same = lr_scheduler.OneCycleLR(optimizer(), max_lr=0.1, total_steps=10)
    assert len(set(same.get_last_lr())) == 1
    several = lr_scheduler.OneCycleLR(optimizer(), max_lr=[1e-4, 1e-2], total_steps=10)
    low, high = several.get_last_lr()
    assert high == pytest.approx(100 * low)


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
    optimizer = torch.optim.SGD(two_groups(model), momentum=0.9)
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


def test_the_variant_of_more_parts():
    model = snippet.model
    rest = [
        p for n, p in model.named_parameters() if not n.startswith(("fc.", "layer4."))
    ]
    parts = [rest, [*model.layer4.parameters()], [*model.fc.parameters()]]
    count = sum(p.numel() for part in parts for p in part)
    assert count == sum(p.numel() for p in model.parameters())


def test_the_variant_of_decay_by_depth():
    n, lr, layer = 3, 1e-3, nn.TransformerEncoderLayer(4, 1, 8, batch_first=True)
    model = nn.TransformerEncoder(layer, n, enable_nested_tensor=False)
    groups = [
        {"params": layer.parameters(), "lr": lr * 0.75 ** (n - i)}
        for i, layer in enumerate(model.layers)
    ]
    rates = [group["lr"] for group in torch.optim.AdamW(groups).param_groups]
    assert rates == pytest.approx([lr * 0.421875, lr * 0.5625, lr * 0.75])


def test_biases_and_norms_have_one_dimension():
    for name, module in snippet.model.named_modules():
        for parameter in module.parameters(recurse=False):
            is_norm_or_bias = isinstance(module, nn.BatchNorm2d) or (
                parameter is getattr(module, "bias", None)
            )
            assert (parameter.ndim < 2) == is_norm_or_bias, name


def test_silent_mistakes(model):
    group = {"params": model["head"].parameters(), "Lr": 0.5}
    optimizer = torch.optim.SGD([group], lr=0.1)
    assert optimizer.param_groups[0]["lr"] == 0.1  # the key is misspelt
    before = copy.deepcopy(model.state_dict())
    for parameter in model.parameters():
        parameter.grad = torch.ones_like(parameter)
    optimizer.step()
    assert torch.equal(model["backbone"].weight, before["backbone.weight"])
    assert not torch.equal(model["head"].weight, before["head.weight"])


def test_the_documented_errors(model):
    with raises_as_documented(PAGE, "KeyError: 'params'"):
        torch.optim.SGD([{"parameters": model.parameters(), "lr": 0.1}])
    head = {"params": model["head"].parameters(), "lr": 0.1}
    with raises_as_documented(PAGE, "ValueError: some parameters appear"):
        torch.optim.SGD([{"params": model.parameters()}, head], lr=0.01)
    head = list(model["head"].parameters())
    other = [nn.Parameter(torch.ones_like(p)) for p in head]
    with raises_as_documented(PAGE, "RuntimeError: Boolean value of"):
        [p for p in other if p not in head]
    ids = {id(p) for p in head}
    assert {id(p) for p in (*other, *head) if id(p) not in ids} == set(map(id, other))
    answer = recipes()["layerwise-learning-rates"].answer.text
    compiled = torch.compile(models.resnet18(), backend="eager")
    with raises_as_documented(PAGE, "ValueError: some parameters appear"):
        exec(answer, {"model": compiled})
    wrapped = nn.Module()
    wrapped.module = models.resnet18()  # as DDP names it
    assert all(n.startswith("module.") for n, _ in wrapped.named_parameters())
    exec(answer, {"model": wrapped.module})
    grouped = torch.optim.SGD(two_groups(model))
    with raises_as_documented(PAGE, "ValueError: loaded state dict"):
        grouped.load_state_dict(torch.optim.SGD(model.parameters()).state_dict())


def test_timm_only_stores_the_scale():
    vit = timm.create_model("vit_tiny_patch16_224", img_size=32, depth=2)
    optimizer = create_optimizer_v2(vit, opt="adamw", lr=1e-3, layer_decay=0.75)
    assert {group["lr"] for group in optimizer.param_groups} == {1e-3}
    scales = {group["lr_scale"] for group in optimizer.param_groups}
    assert scales == {0.75**3, 0.75**2, 0.75, 1.0}
