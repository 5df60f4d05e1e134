"""moe-layer: against Mixtral in transformers, a loop, and each pitfall."""

import pytest
import torch
from torch import nn
from transformers import MixtralConfig
from transformers.models.mixtral.modeling_mixtral import (
    MixtralSparseMoeBlock,
    load_balancing_loss_func,
)

from tests.helpers import load_snippet

snippet = load_snippet("llm/moe_layer.py")


class SwiGLU(nn.Module):
    """An expert with the weights of one of Mixtral's."""

    def __init__(self, gate_up, down):
        super().__init__()
        self.gate_up, self.down = gate_up, down

    def forward(self, x):
        gate, up = (x @ self.gate_up.T).chunk(2, dim=-1)
        return (nn.functional.silu(gate) * up) @ self.down.T


@pytest.mark.parametrize("k", [1, 2, 3])
def test_the_layer_of_mixtral(k):
    torch.manual_seed(0)
    config = MixtralConfig(
        hidden_size=8,
        intermediate_size=12,
        num_local_experts=4,
        num_experts_per_tok=k,
    )
    reference = MixtralSparseMoeBlock(config)
    for p in reference.parameters():
        nn.init.normal_(p, std=0.5)
    x = torch.randn(2, 5, 8)
    experts = [
        SwiGLU(a, b)
        for a, b in zip(
            reference.experts.gate_up_proj, reference.experts.down_proj, strict=True
        )
    ]
    moe = snippet.MoE(8, experts, k)
    moe.router.weight = reference.gate.weight
    y, balance = moe(x)
    torch.testing.assert_close(y, reference(x))

    logits = x.flatten(0, 1) @ reference.gate.weight.T
    theirs = load_balancing_loss_func((logits,), num_experts=4, top_k=k)
    torch.testing.assert_close(k * balance, theirs)


def layer(E=8, **options):
    torch.manual_seed(0)
    return snippet.MoE(6, [snippet.mlp(6, 10) for _ in range(E)], **options)


def balance_of(logits, k=2):
    """The loss that the layer adds for these logits (N, E)."""
    E = logits.shape[-1]
    moe = snippet.MoE(E, [nn.Identity() for _ in range(E)], k)
    moe.router = nn.Identity()
    return moe(logits)[1]


def test_the_module_is_a_loop_over_tokens():
    moe, x = layer(E=5, k=3), torch.randn(2, 4, 6)
    y, balance = moe(x)
    for b in range(2):
        for t in range(4):
            top, chosen = moe.router(x[b, t]).topk(3)
            weights = top.exp() / top.exp().sum()
            each = [moe.experts[e](x[b, t]) for e in chosen.tolist()]
            by_hand = sum(w * out for w, out in zip(weights, each, strict=True))
            torch.testing.assert_close(y[b, t], by_hand)
    logits = moe.router(x.flatten(0, 1))
    torch.testing.assert_close(balance, balance_of(logits, 3))


def test_what_is_in_the_module():
    moe = layer()
    assert moe.router.weight.shape == (8, 6)
    assert moe.router.bias is None
    assert len(moe.experts) == 8
    assert moe.k == 2
    up, act, down = moe.experts[3]
    assert up.weight.shape == (10, 6)
    assert down.weight.shape == (6, 10)
    assert isinstance(act, nn.GELU)


def test_all_experts_are_the_dense_mixture():
    moe, x = layer(E=3, k=3), torch.randn(7, 6)
    weights = moe.router(x).softmax(-1)
    dense = sum(weights[:, [e]] * moe.experts[e](x) for e in range(3))
    torch.testing.assert_close(moe(x)[0], dense)
    weights = list(moe.parameters())
    torch.testing.assert_close(
        torch.autograd.grad(moe(x)[0].square().sum(), weights),
        torch.autograd.grad(dense.square().sum(), weights),
    )


def test_balance_by_hand():
    even = 9 * torch.eye(4).repeat(3, 1)  # 3 tokens for each of 4 experts
    torch.testing.assert_close(balance_of(even, 1), torch.tensor(1.0))
    one = torch.tensor([[50.0, 0, 0, 0]] * 6)  # all to one
    torch.testing.assert_close(balance_of(one, 1), torch.tensor(4.0))
    two = torch.tensor([[50.0, 50, 0, 0]] * 6)
    torch.testing.assert_close(balance_of(two, 2), torch.tensor(2.0))


def used(router, x):
    return router(x).topk(2).indices.flatten().bincount(minlength=4)


def test_the_balance_loss_spreads_the_tokens():
    torch.manual_seed(0)
    router, x = nn.Linear(6, 4, bias=False), torch.randn(200, 6) + 2
    optimizer = torch.optim.Adam(router.parameters(), lr=0.05)
    before = used(router, x)
    for _ in range(40):
        optimizer.zero_grad()
        balance_of(router(x)).backward()
        optimizer.step()
    assert before.max() > 170  # of 200 tokens
    assert used(router, x).max() < 140  # 100 would be even


def test_one_expert_and_weights_that_sum_to_1_teach_the_router_nothing():
    moe, x = layer(k=1), torch.randn(20, 6)
    moe(x)[0].square().sum().backward()
    assert moe.router.weight.grad.abs().max() == 0
    # the fix of the page: probabilities over all experts
    logits = moe.router(x)
    chosen = logits.topk(1).indices
    weight = logits.softmax(-1).gather(-1, chosen)
    y = torch.stack(
        [w * moe.experts[e](t) for w, e, t in zip(weight, chosen, x, strict=True)]
    )
    y.square().sum().backward()
    assert moe.router.weight.grad.abs().max() > 0


def test_with_two_the_router_learns():
    moe = layer(k=2)
    moe(torch.randn(20, 6))[0].square().sum().backward()
    assert moe.router.weight.grad.abs().max() > 0


def test_an_unused_expert_has_a_gradient_of_zero():
    moe = layer()
    moe(torch.randn(1, 6))[0].sum().backward()  # 1 token: 6 of 8 unused
    largest = [expert[0].weight.grad.abs().max().item() for expert in moe.experts]
    assert largest.count(0.0) == 6


def test_mixed_precision():
    moe, x = layer(), torch.randn(9, 6)
    y = moe(x)[0]
    with torch.autocast("cpu", torch.bfloat16):
        low, _ = moe(x)
    assert low.dtype == torch.float32
    assert (low - y).abs().mean() < 0.1
    assert moe.bfloat16()(x.bfloat16())[0].dtype == torch.bfloat16


def test_real_tokens_only():
    """The variant: padding neither is routed nor counts."""
    moe, x = layer(), torch.randn(2, 4, 6)
    keep = torch.tensor([[True] * 4, [True, True, False, False]])
    y = torch.zeros_like(x)
    y[keep], balance = moe(x[keep])
    whole, _ = moe(x)
    torch.testing.assert_close(y[keep], whole[keep])
    assert (y[~keep] == 0).all()
    torch.testing.assert_close(balance, balance_of(moe.router(x[keep])))
