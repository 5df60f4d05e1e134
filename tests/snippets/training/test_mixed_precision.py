"""mixed-precision: dtypes, the run against float32, and the documented errors."""

import pytest
import torch
from torch import nn
from torch._subclasses import FakeTensorMode
from torch.nn import functional as F

from tests.helpers import ROOT, load_snippet, raises_as_documented, recipes

SNIPPET = "training/mixed_precision.py"
PAGE = "training/mixed-precision"
snippet = load_snippet(SNIPPET)


def weights(model):
    return nn.utils.parameters_to_vector(model.parameters()).detach()


def test_it_learns_the_rule():
    logits = snippet.model(snippet.data)
    expected = F.cross_entropy(logits, snippet.data[:, :3].argmax(1))
    assert expected < 0.2 < 1 < F.cross_entropy(0 * logits, snippet.y)
    assert snippet.loss.item() == pytest.approx(expected.item(), rel=0.2)


def test_twenty_steps_are_close_to_float32_but_rounded():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 3))
    x = torch.randn(96, 20)
    target = x[:, :3].argmax(1)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    for _ in range(20):
        loss = F.cross_entropy(model(x), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert torch.equal(snippet.data, x)
    assert snippet.loss.item() == pytest.approx(loss.item(), rel=0.05)
    gap = (weights(snippet.model).cpu() - weights(model)).norm()
    assert 0 < gap < 0.1 * weights(model).norm()


def test_weights_gradients_and_optimizer_state_stay_float32():
    kept = [snippet.loss, *snippet.model.parameters()]
    kept += [p.grad for p in snippet.model.parameters()]
    kept += [v for s in snippet.optimizer.state.values() for v in s.values()]
    assert {tensor.dtype for tensor in kept} == {torch.float32}
    assert not torch.is_autocast_enabled(snippet.device.type)


def test_the_dtype_is_stated_not_left_to_the_device():
    """A GPU's default is float16, which would need a scaler."""
    seen, line = [], "\nfor x, y in loader:"
    source = (ROOT / "snippets" / SNIPPET).read_text("utf-8")
    assert source.count(line) == 1
    hook = "\nmodel.register_forward_hook(lambda m, a, out: seen.append(out.dtype))"
    default = torch.get_autocast_dtype("cpu")
    torch.set_autocast_dtype("cpu", torch.float16)
    try:
        exec(source.replace(line, hook + line), {"seen": seen})
    finally:
        torch.set_autocast_dtype("cpu", default)
    assert seen == [torch.bfloat16] * 20


ANSWER = recipes()["mixed-precision"].answer


@pytest.mark.parametrize("rest", [0, 1, 3], ids="{} in the last batch".format)
def test_the_answer_pasted_trains_a_readers_model(rest):
    """With batch norm, a frozen layer and a small last batch; as float32 does."""

    def trained(code):
        torch.manual_seed(0)
        layers = [nn.Linear(20, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, 3)]
        model = nn.Sequential(*layers)
        model[0].requires_grad_(False)
        x = torch.randn(96 + rest, 20)
        data = torch.utils.data.TensorDataset(x, x[:, :3].argmax(1))
        names = {"loader": torch.utils.data.DataLoader(data, 32, drop_last=rest == 1)}
        names |= {"model": model, "loss_fn": nn.CrossEntropyLoss()}
        names |= {"optimizer": torch.optim.AdamW(model[1:].parameters(), lr=0.01)}
        exec(code, names | {"device": "cpu"})  # as readers write it
        return weights(model)

    assert set(ANSWER.yours) == {"loader", "device", "optimizer", "model", "loss_fn"}
    exact = trained(ANSWER.text.replace("bfloat16):", "bfloat16, enabled=False):"))
    rounded = trained(ANSWER.text)
    assert 0 < (rounded - exact).norm() < 0.05 * exact.norm()


def test_backward_runs_in_the_dtypes_of_forward():
    seen = []

    class Spy(nn.Module):
        def forward(self, x):
            seen.append(x.dtype)
            x.register_hook(lambda grad: seen.append(grad.dtype))
            return x

    model = nn.Sequential(nn.Linear(20, 4), Spy(), nn.Linear(4, 3))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = F.cross_entropy(model(torch.randn(2, 20)), torch.tensor([0, 1]))
    loss.backward()
    assert seen == [torch.bfloat16] * 2


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


def test_forward_keeps_less_for_backward():
    model = nn.Sequential(nn.Linear(20, 32), nn.ReLU(), nn.Linear(32, 3))
    x = torch.randn(4096, 20)

    def kept_bytes(enabled):
        storages, alive = {}, []

        def pack(tensor):
            storage = tensor.untyped_storage()
            storages[storage.data_ptr()] = storage.nbytes()
            alive.append(tensor)
            return tensor

        with (
            torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor),
            torch.autocast("cpu", dtype=torch.bfloat16, enabled=enabled),
        ):
            model(x)
        return sum(storages.values())

    assert kept_bytes(True) < 0.7 * kept_bytes(False)


def test_the_variants():
    linear, x = nn.Linear(4, 4), torch.ones(1, 4)
    compiled = torch.compile(linear, backend="eager")
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert compiled(x).dtype == torch.bfloat16
        inner = linear(x)
        with torch.autocast("cpu", enabled=False):
            assert linear(inner.float()).dtype == torch.float32
    with torch.inference_mode(), torch.autocast("cpu", dtype=torch.bfloat16):
        logits = linear(x)
    assert logits.dtype == torch.bfloat16
    assert not logits.requires_grad
    with pytest.raises(TypeError, match="BFloat16"):
        logits.numpy()
    assert logits.float().numpy().shape == (1, 4)
    precision = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("high")
    torch.set_float32_matmul_precision(precision)


def test_the_documented_errors():
    with raises_as_documented(PAGE, "ModuleNotFoundError: No module named"):
        import apex  # noqa: F401
    with raises_as_documented(
        PAGE, "FutureWarning: `torch.cuda.amp.autocast(args...)` is deprecated."
    ):
        torch.cuda.amp.autocast(enabled=False)
    with raises_as_documented(
        PAGE, "FutureWarning: `torch.cuda.amp.GradScaler(args...)` is deprecated."
    ):
        torch.cuda.amp.GradScaler(enabled=False)


def test_bceloss_is_refused_on_cuda_only():
    bce, inside = nn.BCELoss(), torch.rand(2, 2)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        bce(inside, inside)
    # A fake CUDA tensor dispatches like a real one, without a GPU.
    torch.set_autocast_enabled("cuda", True)
    try:
        with FakeTensorMode():
            fake = torch.rand(2, 2, device="cuda")
            nn.BCEWithLogitsLoss()(fake, fake)
            with raises_as_documented(
                PAGE,
                "RuntimeError: torch.nn.functional.binary_cross_entropy",
            ):
                bce(fake, fake)
    finally:
        torch.set_autocast_enabled("cuda", False)


def test_a_float32_buffer_refuses_what_a_layer_returns():
    out, mask = torch.zeros(3, 2), torch.tensor([True, False, True])
    with torch.autocast("cpu", dtype=torch.bfloat16):
        h = nn.Linear(4, 2)(torch.ones(2, 4))
        with raises_as_documented(PAGE, "RuntimeError: Index put"):
            out[mask] = h
        out[mask] = h.to(out.dtype)
    assert torch.equal(out[[0, 2]], h.float())
    assert (out[1] == 0).all()


def test_a_layer_outside_the_block_refuses_bfloat16():
    head = nn.Linear(3, 2)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        logits = nn.Linear(4, 3)(torch.ones(1, 4))
    with raises_as_documented(PAGE, "RuntimeError: mat1 and mat2"):
        head(logits)
    assert head(logits.float()).dtype == torch.float32
