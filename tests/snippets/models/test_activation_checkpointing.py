"""activation-checkpointing: against nn.Sequential, and bytes counted by hand."""

import copy
import weakref

import pytest
import torch
from torch import nn
from torch.utils.checkpoint import (
    checkpoint,
    checkpoint_sequential,
    create_selective_checkpoint_contexts,
)

from tests.helpers import load_snippet, raises_as_documented

snippet = load_snippet("models/activation_checkpointing.py")
Checkpointed, kept_bytes = snippet.Checkpointed, snippet.kept_bytes
PAGE = "models/activation-checkpointing"


def blocks(n=3, p=0.5):
    torch.manual_seed(0)
    layers = [nn.Linear(4, 8), nn.ReLU(), nn.Dropout(p), nn.Linear(8, 4)]
    return [nn.Sequential(*copy.deepcopy(layers)) for _ in range(n)]


def run(model, x, seed=1):
    torch.manual_seed(seed)
    y = model(x)
    return y, torch.autograd.grad(y.square().sum(), [*model.parameters()])


@pytest.mark.parametrize("training", [True, False])
def test_outputs_and_gradients_are_those_of_sequential(training):
    parts, x = blocks(), torch.randn(5, 4)
    plain = nn.Sequential(*parts).train(training)
    y, gradients = run(plain, x)
    z, recomputed = run(Checkpointed(*parts).train(training), x)
    assert torch.equal(y, z)
    assert all(map(torch.equal, gradients, recomputed))
    after = torch.rand(1)  # the recomputation leaves the generator alone
    run(plain, x)
    assert torch.equal(torch.rand(1), after)


def test_gradients_reach_the_input_and_twice_differentiate():
    parts = [nn.Sequential(nn.Linear(3, 3).double(), nn.Tanh()) for _ in range(2)]
    x = torch.randn(2, 3, dtype=torch.float64, requires_grad=True)
    torch.autograd.gradcheck(Checkpointed(*parts), x)
    first, second = (
        torch.autograd.functional.hvp(lambda x, m=m: m(x).sum(), x, torch.ones(2, 3))[1]
        for m in (nn.Sequential(*parts), Checkpointed(*parts))
    )
    torch.testing.assert_close(first, second)


def test_the_state_dict_is_that_of_sequential():
    plain = nn.Sequential(*blocks())
    model = Checkpointed(*blocks())
    model.load_state_dict(plain.state_dict())
    assert list(model.state_dict()) == list(plain.state_dict())


def test_each_block_runs_twice_and_without_grad_once():
    calls = []

    class Counts(nn.Linear):
        def forward(self, x):
            calls.append(torch.is_grad_enabled())
            return super().forward(x).sigmoid()

    model, x = Checkpointed(Counts(4, 4), Counts(4, 4)), torch.randn(5, 4)
    y = model(x)
    assert calls == [True] * 2
    y.sum().backward()
    assert len(calls) == 4
    with torch.no_grad():
        assert not model(x).requires_grad
    assert len(calls) == 6


def test_what_is_inside_a_block_is_freed_before_backward():
    parts, x, inner = blocks(1), torch.randn(5, 4), []
    parts[0][1].register_forward_hook(
        lambda module, args, y: inner.append(weakref.ref(y.untyped_storage()))
    )
    plain, recomputed = nn.Sequential(*parts)(x), Checkpointed(*parts)(x)
    assert inner[0]() is not None
    assert inner[1]() is None
    assert plain.shape == recomputed.shape  # both graphs are alive until here


def test_bytes_counted_by_hand():
    parts = [nn.Sequential(nn.Linear(4, 8), nn.Sigmoid(), nn.Linear(8, 4))]
    x = torch.randn(5, 4)
    # x, and the output of the sigmoid, which the second layer keeps as well
    assert kept_bytes(nn.Sequential(*parts), x) == (5 * 4 + 5 * 8) * 4
    assert kept_bytes(Checkpointed(*parts), x) == 5 * 4 * 4
    assert kept_bytes(Checkpointed(*parts * 3), x) == 3 * 5 * 4 * 4
    with torch.no_grad():
        assert kept_bytes(nn.Sequential(*parts), x) == 0
    assert kept_bytes(nn.Linear(4, 2).double(), x.double()) == 5 * 4 * 8
    chain = nn.Sequential(*[nn.Sigmoid() for _ in range(50)])  # each keeps its output
    assert kept_bytes(chain, x.clone().requires_grad_()) == 50 * 5 * 4 * 4


def test_dropout_needs_the_state_of_the_generator():
    (part,), x = blocks(1), torch.randn(5, 4)
    _, expected = run(part, x)
    for keep in (True, False):
        torch.manual_seed(1)
        y = checkpoint(part, x, use_reentrant=False, preserve_rng_state=keep)
        gradients = torch.autograd.grad(y.square().sum(), [*part.parameters()])
        assert torch.equal(gradients[0], expected[0]) == keep


def test_the_reentrant_kind_loses_gradients_silently():
    part, head, x = nn.Linear(4, 4), nn.Linear(4, 1), torch.randn(5, 4)
    with raises_as_documented(PAGE):
        checkpoint(part, x, use_reentrant=True)
    with pytest.warns(UserWarning, match="None of the inputs"):
        head(checkpoint(part, x, use_reentrant=True)).sum().backward()
    assert part.weight.grad is None
    head(checkpoint(part, x, use_reentrant=False)).sum().backward()
    assert part.weight.grad is not None


def test_batchnorm_counts_each_batch_twice():
    norm, x = nn.BatchNorm1d(4), torch.randn(5, 4)
    model = Checkpointed(nn.Sequential(norm, nn.Linear(4, 4)))
    model(x).sum().backward()
    assert norm.num_batches_tracked == 2
    # Two updates with momentum m are one with 1 - (1 - m)**2.
    expected = (1 - 0.9**2) * x.mean(0)
    torch.testing.assert_close(norm.running_mean, expected)
    assert pytest.approx(0.1) == 1 - (1 - 0.05131670194948623) ** 2


def test_variants():
    parts, x = blocks(4, p=0.0), torch.randn(5, 4)
    plain = nn.Sequential(*parts)
    y = checkpoint_sequential(plain, 2, x, use_reentrant=False)
    torch.testing.assert_close(y, plain(x))
    z = checkpoint(
        plain,
        x,
        use_reentrant=False,
        context_fn=lambda: create_selective_checkpoint_contexts(
            [torch.ops.aten.addmm.default]
        ),
    )
    torch.testing.assert_close(z, y)


def test_the_documented_errors():
    (part,), x = blocks(1), torch.randn(5, 4)
    with raises_as_documented(PAGE):
        checkpoint(part, x)
    y = Checkpointed(part)(x)
    part.eval()  # between forward and backward
    with raises_as_documented(PAGE):
        y.sum().backward()
    seen = []

    def grows(x):
        seen.append(x)
        return x[:, : len(seen)].exp().sum()

    with raises_as_documented(PAGE):
        checkpoint(grows, x.clone().requires_grad_(), use_reentrant=False).backward()
    first = Checkpointed(nn.Sequential(nn.ReLU(inplace=True), nn.Linear(4, 4)))
    with raises_as_documented(PAGE):
        first(torch.randn(5, 4)).sum().backward()


@pytest.mark.parametrize("reentrant", [True, False])
def test_ddp_takes_a_shared_block_only_without_reentry(reentrant):
    class Twice(nn.Module):
        def __init__(self):
            super().__init__()
            self.stem, self.block = nn.Linear(4, 4), nn.Linear(4, 4)

        def forward(self, x):
            x = self.stem(x)
            for _ in range(2):
                x = checkpoint(self.block, x, use_reentrant=reentrant)
            return x

    store = torch.distributed.HashStore()
    torch.distributed.init_process_group("gloo", store=store, rank=0, world_size=1)
    try:
        model = nn.parallel.DistributedDataParallel(Twice())  # must outlive backward
        loss = model(torch.randn(2, 4)).sum()
        if reentrant:
            with raises_as_documented(PAGE):
                loss.backward()
        else:
            loss.backward()
    finally:
        torch.distributed.destroy_process_group()
