"""mmap-meta-assign: the memory that is used, and what can be left on meta."""

import io
import signal
import subprocess
import sys

import pytest
import torch
from torch import nn

from tests.helpers import assert_documented, load_snippet, raises_as_documented

PAGE = "models/mmap-meta-assign"
SNIPPET = "models/mmap_meta_assign.py"
snippet = load_snippet(SNIPPET)

# The memory of this process, in sizes of the file; tensors above 32 MiB are given back.
MEMORY = """
import psutil, torch
from torch import nn

def make(device="cpu"):
    with torch.device(device):
        return nn.Sequential(nn.Linear(4096, 2304, False), nn.Linear(2304, 4096, False))

def used():
    return (psutil.Process().memory_info().rss - before) / (2 * 4 * 4096 * 2304)

torch.set_grad_enabled(False)
torch.save(make().state_dict(), "w.pt")
x = torch.ones(1, 4096)
make()(x)
for device, mmap in (("cpu", False), ("meta", False), ("meta", True)):
    before = psutil.Process().memory_info().rss
    model = make(device)
    state = torch.load("w.pt", mmap=mmap, weights_only=True)
    model.load_state_dict(state, assign=device == "meta")
    loaded = used()
    model(x)
    print(f"{loaded:.1f} {used():.1f}")
    del model, state
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


class Positions(nn.Module):
    """A buffer that no file holds."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.register_buffer("pos", torch.arange(4.0), persistent=False)

    def forward(self, x):
        return self.linear(x) + self.pos


def on_meta(make):
    with torch.device("meta"):
        return make()


def load(model, weights, **options):
    torch.save(weights, "w.pt")
    state = torch.load("w.pt", mmap=True, weights_only=True)
    return model.load_state_dict(state, **options)


def test_memory_as_in_the_table():
    run = subprocess.run(
        [sys.executable, "-c", MEMORY], capture_output=True, text=True, check=True
    )
    assert run.stdout.splitlines() == ["2.0 2.0", "1.0 1.0", "0.0 1.0"]


def test_the_model_computes_what_the_saved_one_computes():
    torch.manual_seed(0)
    saved = snippet.make_model()
    model = on_meta(snippet.make_model)
    assert all(p.is_meta for p in model.parameters())
    load(model, saved.state_dict(), assign=True)
    assert all(p.requires_grad for p in model.parameters())
    w1, b1, w2, b2 = (p.detach().numpy() for p in saved.parameters())
    assert (w1.shape, w2.shape) == ((64, 64), (8, 64))
    x = torch.randn(3, 64)
    expected = (x.numpy() @ w1.T + b1).clip(0) @ w2.T + b2
    torch.testing.assert_close(model(x).detach(), torch.from_numpy(expected))


def test_without_assign_nothing_is_loaded():
    model = on_meta(lambda: nn.Linear(4, 4))
    with pytest.warns(UserWarning, match="no-op") as caught:
        load(model, nn.Linear(4, 4).state_dict())
    assert_documented(
        PAGE, "UserWarning: for weight", f"UserWarning: {caught[0].message}"
    )
    with raises_as_documented(PAGE, "NotImplementedError: Cannot copy out of meta"):
        model.to("cpu")
    with raises_as_documented(PAGE, "RuntimeError: Tensor on device meta"):
        model(torch.ones(1, 4))


def test_a_plain_attribute_stays_on_meta_unseen():
    class Attribute(nn.Linear):
        def __init__(self):
            super().__init__(4, 4)
            self.pos = torch.arange(4.0)

        def forward(self, x):
            return super().forward(x) + self.pos

    saved, model = Attribute(), on_meta(Attribute)
    load(model, saved.state_dict(), assign=True)
    assert not any(b.is_meta for b in model.buffers())
    with raises_as_documented(PAGE, "RuntimeError: Tensor on device meta"):
        model(torch.ones(1, 4))
    model.pos = torch.arange(4.0)
    assert torch.equal(model(torch.ones(1, 4)), saved(torch.ones(1, 4)))


def test_a_buffer_that_no_file_holds_stays_on_meta():
    saved, model = Positions(), on_meta(Positions)
    load(model, saved.state_dict(), assign=True)
    assert [name for name, b in model.named_buffers() if b.is_meta] == ["pos"]
    with raises_as_documented(PAGE, "RuntimeError: Tensor on device meta"):
        model(torch.ones(1, 4))
    model.pos = torch.arange(4.0)
    assert "pos" in dict(model.named_buffers())
    assert torch.equal(model(torch.ones(1, 4)), saved(torch.ones(1, 4)))


def test_an_optimizer_built_before_does_nothing():
    model = on_meta(lambda: nn.Linear(4, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    load(model, nn.Linear(4, 1).state_dict(), assign=True)
    before = model.weight.detach().clone()
    model(torch.ones(1, 4)).sum().backward()
    optimizer.step()
    assert torch.equal(model.weight, before)
    torch.optim.SGD(model.parameters(), lr=1.0).step()
    torch.testing.assert_close(model.weight.detach(), before - 1)
    saved = torch.load("w.pt", weights_only=True)["weight"]
    assert torch.equal(saved, before)  # the file is as it was


def test_dtype_and_ties_are_those_of_the_file():
    model = on_meta(lambda: nn.Linear(4, 4))
    load(model, nn.Linear(4, 4).half().state_dict(), assign=True)
    assert model.weight.dtype == torch.float16

    def tied():
        model = nn.Sequential(nn.Embedding(5, 4), nn.Linear(4, 5, bias=False))
        model[1].weight = model[0].weight
        return model

    model = on_meta(tied)
    assert len(list(model.parameters())) == 1
    load(model, tied().state_dict(), assign=True)
    assert len(list(model.parameters())) == 2


def test_parts_one_after_another():
    saved, model = snippet.make_model(), on_meta(snippet.make_model)
    items = list(saved.state_dict().items())
    for part in (items[:3], items[3:]):
        torch.save(dict(part), f"{len(part)}.pt")
        state = torch.load(f"{len(part)}.pt", mmap=True, weights_only=True)
        model.load_state_dict(state, strict=False, assign=True)
    assert not any(p.is_meta for p in model.parameters())
    torch.testing.assert_close(model.state_dict(), saved.state_dict())


def test_a_file_overwritten_while_it_is_mapped_ends_the_process():
    code = """
import resource, torch
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
torch.save(torch.ones(4096, 1024), "w.pt")
mapped = torch.load("w.pt", mmap=True, weights_only=True)
torch.save(torch.ones(2), "w.pt")
mapped.sum()
"""
    run = subprocess.run([sys.executable, "-c", code], check=False)
    assert run.returncode == -signal.SIGBUS


def test_other_messages():
    with raises_as_documented(PAGE, "RuntimeError: Tensor.item() cannot"):
        on_meta(lambda: torch.linspace(0, 0.1, 3)[1].item())
    weights = nn.Linear(4, 4).state_dict()
    torch.save(weights, "old.pt", _use_new_zipfile_serialization=False)
    with raises_as_documented(PAGE, "RuntimeError: mmap can only be used"):
        torch.load("old.pt", mmap=True, weights_only=True)
    memory = io.BytesIO()
    torch.save(weights, memory)
    memory.seek(0)
    with raises_as_documented(PAGE, "ValueError: f must be a file path"):
        torch.load(memory, mmap=True, weights_only=True)
