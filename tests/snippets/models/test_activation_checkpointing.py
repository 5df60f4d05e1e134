"""activation-checkpointing: against a plain forward, and bytes counted by hand."""

import copy
import functools
import weakref

import pytest
import torch
from torch import nn
from torch.autograd.graph import saved_tensors_hooks
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.checkpoint import (
    checkpoint,
    checkpoint_sequential,
    create_selective_checkpoint_contexts,
)
from torchvision.models import resnet18

from tests.helpers import load_snippet, raises_as_documented

SNIPPET = "models/activation_checkpointing.py"
PAGE = "models/activation-checkpointing"
snippet = load_snippet(SNIPPET)


def blocks(n=3, p=0.5):
    torch.manual_seed(0)
    layers = [nn.Linear(4, 8), nn.ReLU(), nn.Dropout(p), nn.Linear(8, 4)]
    return [nn.Sequential(*copy.deepcopy(layers)) for _ in range(n)]


def checkpointed(blocks, x):
    for block in blocks:
        x = checkpoint(block, x, use_reentrant=False)
    return x


def kept_bytes(forward):
    """What a forward keeps for backward, each storage once."""
    kept = {}

    def note(tensor):
        storage = tensor.untyped_storage()
        kept[storage.data_ptr()] = storage.nbytes()
        return tensor  # alive, or another would get its address

    with saved_tensors_hooks(note, lambda tensor: tensor):
        result = forward()
    return sum(kept.values()), result


class Allocator(TorchDispatchMode):
    """Adds up the bytes of the storages that live, and remembers the most."""

    def __init__(self):
        super().__init__()
        self.now = self.peak = 0
        self.known = weakref.WeakSet()

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        results = function(*args, **(kwargs or {}))
        for tensor in results if isinstance(results, tuple | list) else [results]:
            if isinstance(tensor, torch.Tensor):
                self.note(tensor.untyped_storage())
        return results

    def note(self, storage):
        if storage not in self.known:
            self.known.add(storage)
            self.now += storage.nbytes()
            self.peak = max(self.peak, self.now)
            weakref.finalize(storage, self.free, storage.nbytes())

    def free(self, size):
        self.now -= size

    def reset(self):
        self.peak = self.now


def test_the_gradients_are_those_of_a_plain_step_with_the_same_dropout():
    parts, x = blocks(), torch.randn(5, 4)
    gradients = []
    for model in (nn.Sequential(*parts), snippet.Net(parts)):
        torch.manual_seed(1)
        loss = model(x).square().mean()
        gradients.append(torch.autograd.grad(loss, list(model.parameters())))
    for plain, recomputed in zip(*gradients, strict=True):
        assert torch.equal(plain, recomputed)


@pytest.mark.parametrize("n", [1, 2, 5])
def test_plain_keeps_the_input_of_each_layer_and_net_that_of_each_block(n):
    layers = (nn.Linear(4, 16), nn.GELU(), nn.Linear(16, 4))
    parts = [nn.Sequential(*copy.deepcopy(layers)) for _ in range(n)]
    x = torch.ones(8, 4)
    plain, saving = 4 * 8 * (4 + 16 + 16), 4 * 8 * 4  # float32, per block
    assert snippet.kept_bytes(nn.Sequential(*parts), x) == n * plain
    assert snippet.kept_bytes(snippet.Net(parts), x) == n * saving


def test_memory_that_two_share_counts_once():
    class Squares(nn.Module):
        def forward(self, x):
            return x.square() + x.square()

    x = torch.ones(8, 4, requires_grad=True)
    assert snippet.kept_bytes(Squares(), x) == 4 * 8 * 4


def test_the_peak_of_a_step_falls_only_if_each_block_is_wrapped():
    """In MiB: x (8192, 256) has 8, what is inside a block (8192, 1024) 32 each."""

    def peak(wrap):
        with Allocator() as memory, torch.device("meta"):
            parts = [
                nn.Sequential(nn.Linear(256, 1024), nn.GELU(), nn.Linear(1024, 256))
                for _ in range(12)
            ]
            model, x = wrap(parts), torch.empty(8192, 256)
            memory.reset()
            model(x).sum().backward()
        return memory.peak / 2**20

    plain = peak(lambda parts: nn.Sequential(*parts))
    whole = peak(lambda parts: snippet.Net([nn.Sequential(*parts)]))
    each = peak(snippet.Net)
    weights = 12 * 2  # 12 blocks of two matrices of 1 MiB; a gradient as well
    assert plain == pytest.approx(weights + 12 * (8 + 32 + 32), rel=0.15)
    assert each == pytest.approx(2 * weights + 12 * 8 + 4 * 32, rel=0.2)
    assert whole > 0.99 * plain


@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_bfloat16_and_another_device(device):
    parts = nn.ModuleList(blocks()).to(device, torch.bfloat16)
    x = torch.ones(3, 4, device=device, dtype=torch.bfloat16)
    snippet.Net(parts)(x).sum().backward()
    assert parts[0][0].weight.grad.dtype == torch.bfloat16


def test_bytes_counted_by_hand():
    parts = [nn.Sequential(nn.Sigmoid(), nn.Sigmoid())] * 3
    x = torch.randn(5, 4, requires_grad=True)
    # a sigmoid keeps its output; of the checkpoints each keeps its input
    assert kept_bytes(lambda: nn.Sequential(*parts)(x))[0] == 6 * 5 * 4 * 4
    assert kept_bytes(lambda: checkpointed(parts, x))[0] == 3 * 5 * 4 * 4
    whole = [nn.Sequential(*parts)]
    size, y = kept_bytes(lambda: checkpointed(whole, x))
    assert size == 5 * 4 * 4
    y.sum().backward()
    with torch.no_grad():
        assert kept_bytes(lambda: checkpointed(parts, x))[0] == 0


def test_what_is_inside_a_block_is_freed_before_backward():
    parts, x, inner = blocks(1), torch.randn(5, 4), []
    parts[0][1].register_forward_hook(
        lambda module, args, y: inner.append(weakref.ref(y.untyped_storage()))
    )
    plain, recomputed = nn.Sequential(*parts)(x), checkpointed(parts, x)
    assert inner[0]() is not None
    assert inner[1]() is None
    assert plain.shape == recomputed.shape  # both graphs are alive until here
    recomputed.sum().backward()
    assert len(inner) == 3  # the second run


def test_the_random_state_is_put_back_for_the_second_run():
    (part,), x = blocks(1), torch.randn(5, 4)

    def gradient(run):
        torch.manual_seed(1)
        return torch.autograd.grad(run().square().sum(), [*part.parameters()])[0]

    plain = gradient(lambda: part(x))
    for keep in (True, False):
        options = {"use_reentrant": False, "preserve_rng_state": keep}
        recomputed = gradient(lambda options=options: checkpoint(part, x, **options))
        assert torch.equal(recomputed, plain) == keep


def test_the_old_kind_loses_gradients():
    part, head, x = nn.Linear(4, 4), nn.Linear(4, 1), torch.randn(5, 4)
    with raises_as_documented(PAGE, "UserWarning: None of the"):
        checkpoint(part, x, use_reentrant=True)
    with pytest.warns(UserWarning, match="None of the inputs"):
        head(checkpoint(part, x, use_reentrant=True)).sum().backward()
    assert part.weight.grad is None
    head(checkpoint(part, x, use_reentrant=False)).sum().backward()
    assert part.weight.grad is not None


def test_the_old_kind_refuses_an_output_without_a_gradient():
    start = "RuntimeError: none of output has requires_grad=True"
    x, other = torch.randn(5, 4), torch.ones((), requires_grad=True)
    frozen = nn.Linear(4, 4).requires_grad_(False)
    learns = nn.Linear(4, 4)

    @torch.no_grad()
    def without(x):
        return learns(x)

    def ends(x):
        return learns(x).detach()

    for block in (without, ends, lambda x, other: frozen(x)):
        inputs = [x.clone().requires_grad_()]
        if block not in (without, ends):
            inputs = [x, other]  # it does not come into the output
        y = checkpoint(block, *inputs, use_reentrant=True)
        with raises_as_documented(PAGE, start):
            y.sum().backward()
        y = checkpoint(block, *inputs, use_reentrant=False)
        (y.sum() + other).backward()


def test_batchnorm_counts_each_batch_twice():
    norm, x = nn.BatchNorm1d(4), torch.randn(5, 4)
    checkpointed([nn.Sequential(norm, nn.Linear(4, 4))], x).sum().backward()
    assert norm.num_batches_tracked == 2
    # Two updates with momentum m are one with 1 - (1 - m)**2.
    expected = (1 - 0.9**2) * x.mean(0)
    torch.testing.assert_close(norm.running_mean, expected)
    assert f"{1 - 0.9**0.5:.4f}" == "0.0513"
    assert pytest.approx(0.1) == 1 - (1 - (1 - 0.9**0.5)) ** 2


def test_variants():
    parts, x = blocks(4, p=0.0), torch.randn(5, 4)
    plain = nn.Sequential(*parts)
    y = checkpoint_sequential(plain, 4, x, use_reentrant=False)
    torch.testing.assert_close(y, plain(x))
    ran = []
    for part in parts:
        part.register_forward_pre_hook(
            lambda module, _: ran.append(parts.index(module))
        )
    checkpoint_sequential(plain, 4, x, use_reentrant=False).sum().backward()
    assert sorted(ran) == [0, 0, 1, 1, 2, 2, 3]  # the last piece is not run again
    z = checkpoint(
        plain,
        x,
        use_reentrant=False,
        context_fn=lambda: create_selective_checkpoint_contexts(
            [torch.ops.aten.addmm.default]
        ),
    )
    torch.testing.assert_close(z, y)


def test_a_block_gets_its_mask_and_its_keywords():
    layer, x = nn.MultiheadAttention(4, 2, batch_first=True), torch.randn(2, 3, 4)
    mask = torch.tensor([[False, False, True]] * 2)

    def block(x, mask, scale=1):
        return layer(x, x, x, key_padding_mask=mask)[0] * scale

    y = checkpoint(block, x, mask, scale=2, use_reentrant=False)
    changed = torch.cat([x[:, :2], x[:, 2:] + 1], dim=1)  # where the mask hides it
    torch.testing.assert_close(y[:, :2], 2 * block(changed, mask)[:, :2])


def test_a_model_whose_code_stays():
    model, x = resnet18(weights=None).eval(), torch.randn(2, 3, 32, 32)
    names, weights = list(model.state_dict()), list(model.parameters())
    plain, y = kept_bytes(lambda: model(x))
    expected = torch.autograd.grad(y.sum(), weights)
    for layer in (model.layer1, model.layer2, model.layer3, model.layer4):
        for block in layer:
            block.forward = functools.partial(
                checkpoint, block.forward, use_reentrant=False
            )
    kept, y = kept_bytes(lambda: model(x))
    for a, b in zip(torch.autograd.grad(y.sum(), weights), expected, strict=True):
        assert torch.equal(a, b)
    assert kept < plain / 10
    assert list(model.state_dict()) == names


def test_the_documented_errors():
    (part,), x = blocks(1), torch.randn(5, 4)
    with raises_as_documented(PAGE, "UserWarning: torch.utils.checkpoint: the"):
        checkpoint(part, x)
    y = checkpointed([part], x)
    part.eval()  # between forward and backward
    with raises_as_documented(
        PAGE, "CheckpointError: torch.utils.checkpoint: A different"
    ) as caught:
        y.sum().backward()
    assert "A different number" in str(caught.value)
    seen = []

    def grows(x):
        seen.append(x)
        return x[:, : len(seen)].exp().sum()

    with raises_as_documented(
        PAGE, "CheckpointError: torch.utils.checkpoint: Recomputed values"
    ) as caught:
        checkpoint(grows, x.clone().requires_grad_(), use_reentrant=False).backward()
    assert "different metadata" in str(caught.value)
    for inplace in (False, True):
        first = nn.Sequential(nn.ReLU(inplace=inplace), nn.Linear(4, 4))
        loss = checkpointed([nn.Linear(4, 4), first], x).sum()
        if inplace:
            with raises_as_documented(PAGE, "RuntimeError: one of the"):
                loss.backward()
        else:
            loss.backward()


@pytest.mark.usefixtures("group")
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

    model = nn.parallel.DistributedDataParallel(Twice())  # must outlive backward
    loss = model(torch.randn(2, 4)).sum()
    if reentrant:
        with raises_as_documented(PAGE, "RuntimeError: Expected to mark"):
            loss.backward()
    else:
        loss.backward()
