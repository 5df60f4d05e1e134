"""selective-checkpointing: gradients of a plain step, and what runs twice by count."""

import copy
from collections import Counter
from functools import partial

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.checkpoint import (
    CheckpointPolicy,
    checkpoint,
    create_selective_checkpoint_contexts,
)
from torch.utils.flop_counter import FlopCounterMode

from tests.helpers import load_snippet, raises_as_documented

PAGE = "models/selective-checkpointing"
snippet = load_snippet("models/selective_checkpointing.py")
aten = torch.ops.aten
CALLED = {"use_reentrant": False, "context_fn": snippet.context_fn}


class Calls(TorchDispatchMode):
    """How often each operation runs."""

    def __init__(self):
        super().__init__()
        self.count = Counter()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.count[func] += 1
        return func(*args, **(kwargs or {}))


def step(run, block, x):
    torch.manual_seed(0)
    block.zero_grad()
    with Calls() as calls, FlopCounterMode(display=False) as flops:
        run(block, x).square().sum().backward()
    return [p.grad for p in block.parameters()], calls.count, flops.get_total_flops()


def test_gradients_and_flops_are_those_of_a_plain_step():
    block, x = snippet.block, snippet.x
    grads, count, flops = step(lambda block, x: block(x), block, x)
    for options, extra in ((CALLED, 0), ({"use_reentrant": False}, 1)):
        found, counted, n = step(partial(checkpoint, **options), block, x)
        for a, b in zip(found, grads, strict=True):
            assert torch.equal(a, b)  # the dropout of both runs is the same
        product = 2 * 32 * 64 * 256  # the last product is never needed again
        assert n == flops + extra * product == (5 + extra) * product
        assert counted[aten.addmm.default] == count[aten.addmm.default] + extra
        assert counted[aten.gelu.default] == 2 * count[aten.gelu.default] == 2


def test_the_snippet_prints_the_flops_by_hand(capsys):
    load_snippet("models/selective_checkpointing.py")
    product = 2 * 32 * 64 * 256
    assert capsys.readouterr().out == (
        f"{5 * product:,} FLOPs with the list\n{6 * product:,} FLOPs without the list\n"
    )


def test_without_bias_it_is_mm():
    block = nn.Sequential(nn.Linear(4, 4, bias=False), nn.GELU(), nn.Linear(4, 4))
    x = torch.randn(3, 4)
    flops = [
        step(partial(checkpoint, use_reentrant=False, **options), block, x)[2]
        for options in ({}, {"context_fn": snippet.context_fn}, with_list([]))
    ]
    assert flops[0] == flops[2] > flops[1]
    # a name that the block does not call changes nothing, and is silent
    assert (
        step(
            partial(
                checkpoint, use_reentrant=False, **with_list([aten.linear.default])
            ),
            block,
            x,
        )[2]
        == (flops[0])
    )


def test_a_convolution_has_another_name_and_batchnorm_counts_twice():
    norm = nn.BatchNorm2d(4)
    block = nn.Sequential(nn.Conv2d(3, 4, 3), norm, nn.Conv2d(4, 4, 3), nn.GELU())
    x = torch.randn(2, 3, 9, 9)
    plain = step(lambda block, x: block(x), block, x)[2]
    for options, twice in (
        (CALLED, True),
        (with_list([aten.convolution.default]), False),
    ):
        seen = norm.num_batches_tracked.item()
        run = partial(checkpoint, **{"use_reentrant": False, **options})
        assert (step(run, block, x)[2] > plain) is twice
        assert norm.num_batches_tracked == seen + 2


def with_list(names):
    return {"context_fn": partial(create_selective_checkpoint_contexts, names)}


def test_only_the_results_of_the_list_are_stored():
    stored = {}

    def context_fn():
        forward, backward = snippet.context_fn()
        stored.update({"storage": forward.storage})
        return forward, backward

    checkpoint(snippet.block, snippet.x, use_reentrant=False, context_fn=context_fn)
    kinds = {
        op: {type(entry).__name__ for entry in entries.values()}
        for op, entries in stored["storage"].items()
    }
    assert kinds.pop(aten.addmm.default) == {"_VersionWrapper"}
    assert set.union(*kinds.values()) == {"object"}  # recomputed


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(8, 24)

    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, 1, 8)).transpose(1, 3).unbind(2)
        return F.gelu(F.scaled_dot_product_attention(q, k, v, is_causal=True))


def test_the_names_of_attention():
    name = "_scaled_dot_product_{}.default"
    kinds = ["flash_attention", "efficient_attention", "cudnn_attention"]
    for kind in [*kinds, "flash_attention_for_cpu"]:
        op, overload = name.format(kind).split(".")
        assert isinstance(getattr(getattr(aten, op), overload), torch._ops.OpOverload)
    on_cpu = aten._scaled_dot_product_flash_attention_for_cpu.default
    block, x = Attention(), torch.randn(2, 5, 8)
    for keep, times in (([], 2), ([on_cpu], 1)):
        run = partial(checkpoint, use_reentrant=False, **with_list(keep))
        assert step(run, block, x)[1][on_cpu] == times


def test_a_policy_that_keeps_every_second_product():
    block = nn.Sequential(
        *[nn.Sequential(nn.Linear(4, 4), nn.GELU()) for _ in range(4)]
    )
    x = torch.randn(3, 4)

    def context_fn():
        seen = Counter()

        def policy(ctx, op, *args, **kwargs):
            seen[op] += 1
            if op == aten.addmm.default and seen[op] % 2:
                return CheckpointPolicy.MUST_SAVE
            return CheckpointPolicy.PREFER_RECOMPUTE

        return create_selective_checkpoint_contexts(policy)

    grads, count, _ = step(lambda block, x: block(x), block, x)
    for _ in range(2):  # the second block counts from the start
        run = partial(checkpoint, use_reentrant=False, context_fn=context_fn)
        found, counted, _ = step(run, block, x)
        assert counted[aten.addmm.default] == count[aten.addmm.default] + 2 == 6
        for a, b in zip(found, grads, strict=True):
            assert torch.equal(a, b)


def test_a_list_of_something_else():
    with raises_as_documented(PAGE, "ValueError: Expected op in"):
        checkpoint(
            snippet.block, snippet.x, use_reentrant=False, **with_list([aten.mm])
        )
    with pytest.raises(ValueError, match="to be an OpOverload"):
        checkpoint(
            snippet.block, snippet.x, use_reentrant=False, **with_list([F.linear])
        )


@pytest.mark.parametrize("inplace", [True, False])
def test_a_layer_that_writes_into_a_kept_result(inplace):
    block = nn.Sequential(nn.Linear(4, 4), nn.ReLU(inplace=inplace), nn.Linear(4, 4))
    loss = checkpoint(block, torch.randn(3, 4), **CALLED).sum()
    if inplace:
        with raises_as_documented(PAGE, "RuntimeError: Tensor cached"):
            loss.backward()
    else:
        loss.backward()


def test_messages():
    block, x = copy.deepcopy(snippet.block), snippet.x
    loss = checkpoint(block, x, **CALLED).sum()
    loss.backward(retain_graph=True)
    with raises_as_documented(PAGE, "RuntimeError: Trying to backward an extra"):
        loss.backward()
    with raises_as_documented(PAGE, "ValueError: Passing `context_fn`, "):
        checkpoint(block, x, **CALLED | {"use_reentrant": True})
    with raises_as_documented(PAGE, "TypeError: 'tuple' object is not callable"):
        checkpoint(block, x, use_reentrant=False, context_fn=snippet.context_fn())


def test_the_budget_of_the_compiler_exists():
    assert torch._functorch.config.activation_memory_budget == 1.0
