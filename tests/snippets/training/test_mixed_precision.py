"""mixed-precision: dtypes, values against float32, and the documented errors."""

import copy

import pytest
import torch
from torch import nn
from torch._subclasses import FakeTensorMode
from torch.nn import functional as F

from tests.helpers import load_snippet, raises_as_documented

train_step = load_snippet("training/mixed_precision.py").train_step
PAGE = "training/mixed-precision"


@pytest.fixture
def task():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(20, 32), nn.ReLU(), nn.Linear(32, 3))
    x = torch.randn(64, 20)
    return model, x, x[:, :3].argmax(1)


class Spy(nn.Module):
    """Passes its input on and remembers the dtypes it has seen."""

    def __init__(self):
        super().__init__()
        self.forward_dtype = self.backward_dtype = None

    def forward(self, x):
        self.forward_dtype = x.dtype
        x.register_hook(lambda grad: setattr(self, "backward_dtype", grad.dtype))
        return x


def test_matrix_products_run_in_bfloat16_and_the_rest_stays_float32(task):
    model, x, target = task
    spy = Spy()
    model.insert(1, spy)
    optimizer = torch.optim.AdamW(model.parameters())
    loss = train_step(model, optimizer, x, target)
    assert spy.forward_dtype == spy.backward_dtype == torch.bfloat16
    kept = [loss, *model.parameters(), *(p.grad for p in model.parameters())]
    kept += [v for s in optimizer.state.values() for v in s.values()]
    assert {tensor.dtype for tensor in kept} == {torch.float32}
    assert loss.shape == ()
    assert not loss.requires_grad
    assert not torch.is_autocast_enabled("cpu")


def test_a_step_is_close_to_float32_and_the_loss_is_the_one_before(task):
    model, x, target = task
    reference = copy.deepcopy(model)
    expected_loss = F.cross_entropy(reference(x), target)
    expected_loss.backward()
    torch.optim.SGD(reference.parameters(), lr=1.0).step()

    model(x).sum().backward()  # stale gradients, which must not count
    loss = train_step(model, torch.optim.SGD(model.parameters(), lr=1.0), x, target)
    torch.testing.assert_close(loss, expected_loss.detach(), rtol=0.01, atol=0)
    for ours, theirs in zip(model.parameters(), reference.parameters(), strict=True):
        torch.testing.assert_close(ours, theirs, rtol=0, atol=0.005)
    assert not torch.equal(model[0].weight, reference[0].weight)  # it was rounded


def test_the_numbers_the_page_states():
    one = torch.tensor(1.0, dtype=torch.bfloat16)
    assert one + 0.001 == 1
    assert torch.finfo(torch.float16).max == 65504
    assert torch.tensor(1e-8).half() == 0
    assert torch.tensor(1e-8).bfloat16() != 0
    assert torch.get_autocast_dtype("cuda") == torch.float16
    assert torch.get_autocast_dtype("cpu") == torch.bfloat16
    assert issubclass(torch.amp.autocast, torch.autocast)


def test_without_a_scaler_small_float16_gradients_vanish():
    def gradient(dtype):
        weight = torch.ones(4, 4, requires_grad=True)
        with torch.autocast("cpu", dtype=dtype):
            loss = (F.linear(torch.ones(1, 4), weight).float() * 1e-8).sum()
        loss.backward()
        return weight.grad

    assert (gradient(torch.float16) == 0).all()
    assert (gradient(torch.bfloat16) > 0).all()


def test_forward_keeps_less_for_backward(task):
    model, _, target = task
    x, target = torch.randn(4096, 20), target.repeat(64)

    def kept_bytes(enabled):
        storages = {}

        def pack(tensor):
            storage = tensor.untyped_storage()
            storages[storage.data_ptr()] = storage.nbytes()
            alive.append(tensor)
            return tensor

        alive = []
        with (
            torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor),
            torch.autocast("cpu", dtype=torch.bfloat16, enabled=enabled),
        ):
            model(x)
        return sum(storages.values())

    assert kept_bytes(True) < 0.7 * kept_bytes(False)


def test_a_nested_block_computes_in_float32():
    with torch.autocast("cpu", dtype=torch.bfloat16):
        x = F.linear(torch.ones(1, 4), torch.ones(4, 4))
        with torch.autocast(x.device.type, enabled=False):
            assert F.linear(x.float(), torch.ones(4, 4)).dtype == torch.float32


def test_the_documented_errors():
    with raises_as_documented(PAGE):
        import apex  # noqa: F401
    with raises_as_documented(PAGE):
        torch.cuda.amp.autocast(enabled=False)
    with raises_as_documented(PAGE):
        torch.cuda.amp.GradScaler(enabled=False)


def test_bceloss_is_refused_on_cuda_only(monkeypatch):
    bce, inside = nn.BCELoss(), torch.rand(2, 2)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        bce(inside, inside)
    # A fake CUDA tensor dispatches like a real one, without a GPU.
    torch.set_autocast_enabled("cuda", True)
    try:
        with FakeTensorMode():
            fake = torch.rand(2, 2, device="cuda")
            nn.BCEWithLogitsLoss()(fake, fake)
            with raises_as_documented(PAGE):
                bce(fake, fake)
    finally:
        torch.set_autocast_enabled("cuda", False)


def test_a_layer_outside_the_block_refuses_bfloat16(task):
    model, x, _ = task
    with torch.autocast("cpu", dtype=torch.bfloat16):
        logits = model(x)
    head = nn.Linear(3, 2)
    with raises_as_documented(PAGE):
        head(logits)
    assert head(logits.float()).dtype == torch.float32
