"""param-groups: what each group gets, what an added one changes, and who refuses."""

import pytest
import torch
from torch import nn
from torch.optim import lr_scheduler

from tests.helpers import load_snippet, raises_as_documented, recipes

PAGE = "training/param-groups"
ANSWER = recipes()["param-groups"].answer


def sgd():
    return torch.optim.SGD([nn.Parameter(torch.zeros(1))], lr=0.1)


def new_group():
    return {"params": [nn.Parameter(torch.zeros(1))], "lr": 0.01}


def test_the_groups_of_the_snippet(capsys):
    snippet = load_snippet("training/param_groups.py")
    model, rows = snippet.model, []
    for part, group in zip(
        [model.head, model.backbone, model.extra],
        snippet.optimizer.param_groups,
        strict=True,
    ):
        assert [id(p) for p in group["params"]] == [id(p) for p in part.parameters()]
        rows.append((group["lr"], group["weight_decay"]))
    # The decay that a group leaves out is AdamW's 0.01.
    assert rows == [(1e-3, 0.01), (1e-5, 0.01), (1e-4, 0.01)]
    assert capsys.readouterr().out.splitlines() == [
        "18: lr 0.001, decay 0.01",
        "72: lr 1e-05, decay 0.01",
        "6: lr 0.0001, decay 0.01",
    ]


def test_the_answer_forgets_no_parameter_and_shares_none():
    """A weight tied to the head, a free parameter, several parts."""
    model = nn.Module()
    model.embed, model.head = nn.Embedding(5, 3), nn.Linear(3, 5)
    model.embed.weight = model.head.weight
    model.scale, model.norm = nn.Parameter(torch.ones(1)), nn.LayerNorm(3)
    names = {"model": model}
    exec(ANSWER.text, names)
    known = [p for group in names["optimizer"].param_groups for p in group["params"]]
    assert len(known) == len({*known}) == len([*model.parameters()])
    first, second = names["optimizer"].param_groups
    assert (first["lr"], second["lr"]) == (1e-3, 1e-5)
    assert first["params"] == [*model.head.parameters()]


def test_a_frozen_weight_is_skipped_and_moments_stay():
    old, new = nn.Parameter(torch.ones(1)), nn.Parameter(torch.ones(1))
    new.requires_grad_(False)
    optimizer = torch.optim.AdamW([old, new], lr=0.1, weight_decay=0.5)
    old.square().backward()
    optimizer.step()
    assert new.item() == 1.0  # not even decay
    moment = optimizer.state[old]["exp_avg"].clone()
    optimizer.add_param_group(new_group())
    assert torch.equal(optimizer.state[old]["exp_avg"], moment)


@pytest.mark.parametrize(
    "make",
    [
        lambda o: lr_scheduler.StepLR(o, 1, gamma=0.5),
        lambda o: lr_scheduler.MultiStepLR(o, [1], gamma=0.5),
        lambda o: lr_scheduler.CosineAnnealingLR(o, 2),
    ],
    ids=["step", "multistep", "cosine"],
)
def test_chained_schedulers_take_a_new_group_along(make):
    optimizer = sgd()
    scheduler = make(optimizer)
    optimizer.add_param_group(new_group())
    optimizer.step()
    scheduler.step()
    rates = [group["lr"] for group in optimizer.param_groups]
    assert rates == pytest.approx([0.05, 0.005])


def test_plateau_takes_a_new_group_along():
    optimizer = sgd()
    scheduler = lr_scheduler.ReduceLROnPlateau(optimizer, patience=0)
    optimizer.add_param_group(new_group())
    for _ in range(2):
        scheduler.step(1.0)
    rates = [group["lr"] for group in optimizer.param_groups]
    assert rates == pytest.approx([0.01, 0.001])


@pytest.mark.parametrize(
    ("message", "make"),
    [
        ("KeyError: 'max_lr'", lambda o: lr_scheduler.OneCycleLR(o, 0.1, 4)),
        ("ValueError: zip()", lambda o: lr_scheduler.LambdaLR(o, lambda _: 1.0)),
        (
            "ValueError: zip()",
            lambda o: lr_scheduler.SequentialLR(
                o,
                [lr_scheduler.ConstantLR(o), lr_scheduler.CosineAnnealingLR(o, 4)],
                [1],
            ),
        ),
    ],
    ids=["onecycle", "lambda", "sequential"],
)
def test_others_do_not_know_it(message, make):
    optimizer = sgd()
    scheduler = make(optimizer)
    optimizer.add_param_group(new_group())
    optimizer.step()
    with raises_as_documented(PAGE, message):
        scheduler.step()


def test_onecycle_gives_every_group_its_peak():
    peaks = {}
    for name, max_lr in {"one": 1e-3, "list": [1e-3, 1e-5]}.items():
        groups = [new_group() | {"lr": lr} for lr in (1e-3, 1e-5)]
        optimizer = torch.optim.AdamW(groups)
        scheduler = lr_scheduler.OneCycleLR(optimizer, max_lr, total_steps=10)
        seen = [[group["lr"] for group in optimizer.param_groups]]
        for _ in range(9):
            optimizer.step()
            scheduler.step()
            seen.append([group["lr"] for group in optimizer.param_groups])
        peaks[name] = [max(rates) for rates in zip(*seen, strict=True)]
    assert peaks["one"] == pytest.approx([1e-3, 1e-3])
    assert peaks["list"] == pytest.approx([1e-3, 1e-5])


def test_what_the_optimizer_refuses():
    optimizer = sgd()
    with raises_as_documented(PAGE, "ValueError: some parameters"):
        optimizer.add_param_group({"params": optimizer.param_groups[0]["params"]})
    with raises_as_documented(PAGE, "TypeError: param_group must"):
        optimizer.add_param_group(new_group()["params"])
    with raises_as_documented(PAGE, "TypeError: optimizer can"):
        torch.optim.SGD([nn.Parameter(torch.zeros(1)), new_group()])
    fewer = sgd().state_dict()
    optimizer.add_param_group(new_group() | {"name": "head"})
    assert optimizer.state_dict()["param_groups"][1]["name"] == "head"
    with raises_as_documented(PAGE, "ValueError: loaded state"):
        optimizer.load_state_dict(fewer)
