"""no-decay-bias-norm: what decays, by type, by timm, and by a step without gradient."""

import pytest
import torch
from torch import nn

from tests.helpers import load_snippet


@pytest.fixture
def snippet():
    return load_snippet("training/no_decay_bias_norm.py")


def ids(params):
    return {id(p) for p in params}


def test_the_groups_are_those_of_the_layer_types(snippet, capsys):
    layers = [m for m in snippet.model if isinstance(m, nn.Conv2d | nn.Linear)]
    decay, rest = snippet.optimizer.param_groups
    assert ids(decay["params"]) == ids(m.weight for m in layers)
    assert ids(rest["params"]) == ids(snippet.model.parameters()) - ids(decay["params"])
    assert (decay["weight_decay"], rest["weight_decay"]) == (0.05, 0.0)
    assert decay["lr"] == rest["lr"] == 1e-3


def test_timm_makes_the_same_groups(snippet):
    from timm.optim import param_groups_weight_decay

    theirs = {
        g["weight_decay"]: g["params"]
        for g in param_groups_weight_decay(snippet.model, 0.05)
    }
    for group in snippet.optimizer.param_groups:
        assert ids(theirs[group["weight_decay"]]) == ids(group["params"])


def test_timm_leaves_out_the_tokens_of_its_vision_transformers():
    import timm
    from timm.optim import param_groups_weight_decay

    model = timm.create_model("vit_tiny_patch16_224", depth=1)
    assert model.cls_token.ndim == model.pos_embed.ndim == 3
    groups = param_groups_weight_decay(
        model, 0.05, no_weight_decay_list=model.no_weight_decay()
    )
    free = ids(p for g in groups if g["weight_decay"] == 0 for p in g["params"])
    small = {id(p) for p in model.parameters() if p.ndim < 2}
    assert free == small | {id(model.cls_token), id(model.pos_embed)}


def test_a_step_with_zero_gradients_shrinks_only_matrices(snippet):
    before = [p.detach().clone() for p in snippet.params]
    for p in snippet.params:
        p.grad = torch.zeros_like(p)
    snippet.optimizer.step()
    for old, new in zip(before, snippet.params, strict=True):
        shrunk = old * (1 - 1e-3 * 0.05) if old.ndim > 1 else old
        torch.testing.assert_close(new.detach(), shrunk)
    assert len(before) == 6


def test_frozen_parameters_are_left_out(snippet):
    assert all(p.requires_grad for p in snippet.params)
    source = "params = [p for p in model.parameters() if p.requires_grad]"
    names = {"model": nn.Linear(2, 2)}
    names["model"].weight.requires_grad_(False)
    exec(source, names)
    assert ids(names["params"]) == {id(names["model"].bias)}


def test_names_do_not_tell_a_norm_layer(snippet):
    names = [name for name, _ in snippet.model.named_parameters()]
    assert "1.weight" in names
    assert not any("norm" in name for name in names)
    norm = nn.LayerNorm([8, 8])
    assert norm.weight.ndim == norm.bias.ndim == 2
    model = nn.Sequential(norm, nn.Linear(8, 8))
    found = {
        id(p)
        for m in model.modules()
        if isinstance(m, nn.LayerNorm)
        for p in m.parameters()
    }
    assert found == ids(norm.parameters())


def test_the_default_of_adamw_is_not_zero():
    weight = [nn.Parameter(torch.ones(1))]
    assert torch.optim.AdamW(weight).param_groups[0]["weight_decay"] == 0.01
    assert torch.optim.Adam(weight).param_groups[0]["weight_decay"] == 0


def test_another_split_does_not_load(snippet):
    params = list(snippet.params)
    other = [{"params": params[:1]}, {"params": params[1:]}]
    with pytest.raises(ValueError, match="loaded state dict"):
        torch.optim.AdamW(other).load_state_dict(snippet.optimizer.state_dict())
