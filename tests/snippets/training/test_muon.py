"""muon: which weights go where, the step against an SVD, and each message."""

import inspect

import numpy as np
import pytest
import torch
from torch import nn

from tests.helpers import load_snippet, raises_as_documented

PAGE = "training/muon"
snippet = load_snippet("training/muon.py")


def step(shape, lr=1.0, **options) -> tuple[np.ndarray, np.ndarray]:
    """The gradient, and the first step of Muon without weight decay."""
    torch.manual_seed(0)
    p = nn.Parameter(torch.zeros(shape))
    p.grad = torch.randn(shape)
    gradient = p.grad.double().numpy().copy()
    torch.optim.Muon([p], lr=lr, weight_decay=0.0, **options).step()
    return gradient, p.detach().double().numpy()


def names(parameters) -> list[str]:
    known = {id(p): name for name, p in snippet.model.named_parameters()}
    return [known[id(p)] for p in parameters]


def test_which_weights_go_where():
    assert names(snippet.hidden) == ["body.0.weight", "body.2.weight"]
    assert names(snippet.rest) == [
        "embed.weight",
        "body.0.bias",
        "body.2.bias",
        "head.weight",
        "head.bias",
    ]
    groups = [o.param_groups[0] for o in (snippet.muon, snippet.adamw)]
    assert names(groups[0]["params"]) == names(snippet.hidden)
    assert names(groups[1]["params"]) == names(snippet.rest)
    assert [g["lr"] for g in groups] == [3e-4, 3e-4]


def test_every_weight_was_moved_once():
    for optimizer in (snippet.muon, snippet.adamw):
        assert len(optimizer.state) == len(optimizer.param_groups[0]["params"])


def test_what_is_printed(capsys):
    load_snippet("training/muon.py")
    assert capsys.readouterr().out == "Muon: 2 tensors, AdamW: 5\n"


@pytest.mark.parametrize("shape", [(64, 16), (16, 64), (32, 32)])
def test_the_step_is_nearly_orthogonal(shape):
    gradient, moved = step(shape)
    u, s, v = np.linalg.svd(gradient, full_matrices=False)
    rows, columns = shape
    scale = max(1, rows / columns) ** 0.5
    along = np.diag(u.T @ -moved @ v.T) / scale
    assert 0.5 < along.min() <= along.max() < 1.5  # of 1 in an exact one
    assert s.max() / s.min() > 2  # the gradient is far from it


@pytest.mark.parametrize("shape", [(64, 16), (16, 64), (128, 128)])
def test_the_size_that_adamw_has(shape):
    """About 0.2 per weight, whatever the shape."""
    _, moved = step(shape, adjust_lr_fn="match_rms_adamw")
    assert np.sqrt((moved**2).mean()) == pytest.approx(0.2, rel=0.2)


def test_the_names_decide_and_not_the_shape():
    torch.optim.Muon([snippet.model.embed.weight, snippet.model.head.weight])


def test_defaults():
    muon = inspect.signature(torch.optim.Muon).parameters
    assert muon["weight_decay"].default == 0.1
    assert muon["adjust_lr_fn"].default is None
    assert inspect.signature(torch.optim.AdamW).parameters["weight_decay"].default == (
        0.01
    )


def test_both_states_are_saved():
    saved = {"muon": snippet.muon.state_dict(), "adamw": snippet.adamw.state_dict()}
    fresh = torch.optim.Muon(snippet.hidden)
    fresh.load_state_dict(saved["muon"])
    buffer = fresh.state[snippet.hidden[0]]["momentum_buffer"]
    before = snippet.muon.state[snippet.hidden[0]]["momentum_buffer"]
    assert torch.equal(buffer, before)


def test_messages():
    with raises_as_documented(PAGE, "ValueError: Muon only supports 2D"):
        torch.optim.Muon(nn.Linear(16, 64).parameters())
    with pytest.raises(ValueError, match="only supports 2D"):
        torch.optim.Muon(nn.Conv2d(3, 4, 3, bias=False).parameters())
    with raises_as_documented(PAGE, "TypeError: Muon.__init__() got"):
        torch.optim.Muon(snippet.hidden, fused=True)
